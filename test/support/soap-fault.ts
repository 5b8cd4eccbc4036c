/** The answer of a management interface that is a fault of this type, such as `RuntimeFault`. */
export function soapFault(type: string): string {
  return `<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body><soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring>No.</faultstring><detail><${type}Fault xmlns="urn:vim25" xsi:type="${type}"/></detail></soapenv:Fault></soapenv:Body></soapenv:Envelope>`;
}
