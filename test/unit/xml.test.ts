import { expect } from "chai";
import * as fc from "fast-check";
import { buildXml, parseXml } from "../../src/xml";

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

describe("the XML of the management interface", () => {
  it("is read without the prefixes of its elements, which every vendor chooses", () => {
    for (const prefix of ["soapenv:", "S-ENV:", ""])
      expect(plain(parseXml(`<${prefix}Envelope><${prefix}Body>a</${prefix}Body></${prefix}Envelope>`))).to.deep.equal({
        Envelope: { Body: "a" },
      });
  });

  it("is an element's text, its attributes with their prefixes, its children, and those that come often as a list", () => {
    const text = `<?xml version="1.0"?><a><b type="t">1 </b><b xsi:type="u"/><b/><c> x <!-- no --> y</c><d><e>1</e></d></a>`;
    expect(plain(parseXml(text))).to.deep.equal({
      a: { b: [{ "@type": "t", "#text": "1" }, { "@xsi:type": "u" }, ""], c: "x  y", d: { e: "1" } },
    });
  });

  it("says what was meant by references and CDATA", () => {
    const text = "<a>&lt;&#34;&#x10A;&amp;quot;<![CDATA[<b>&amp;</b>]]></a>";
    expect(parseXml(text)["a"]).to.equal('<"Ċ&quot;<b>&amp;</b>');
  });

  it("may have characters that XML has not, which are read as U+FFFD", () => {
    const text = "<a b='\u0001'>\t\u0002 &#1;&#x1F;&#011;&#9;&#xd;&#32; \uffff</a>";
    expect(plain(parseXml(text))).to.deep.equal({
      a: { "@b": "\ufffd", "#text": "\ufffd \ufffd\ufffd\ufffd\t\r  \ufffd" },
    });
  });

  it("takes no name for one of JavaScript's", () => {
    const document = parseXml("<a><__proto__>x</__proto__><constructor>y</constructor></a>");
    expect(Object.keys(document["a"] as object)).to.deep.equal(["__proto__", "constructor"]);
    expect(({} as { x?: string }).x).to.equal(undefined);
  });

  it("is refused where it is not well-formed, or was cut off", () => {
    for (const text of ["", "text", "<a>", "<a><b></a>", "<a>&unknown;</a>", "<a b=1/>", "<a/><b/>", '{"a":1}'])
      expect(() => parseXml(text), text).to.throw();
  });

  it("expands no entity that the document declares", () => {
    expect(() => parseXml('<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>')).to.throw();
  });

  it("is written with attributes first, lists as repeated elements, and nothing of what is undefined", () => {
    const value = { a: { b: ["1", { "@t": "x", "#text": "2" }], c: "", d: undefined, "@e": "f" } };
    expect(buildXml(value)).to.equal('<a e="f"><b>1</b><b t="x">2</b><c/></a>');
  });

  it("is read as it was written, whatever the text", () => {
    const text = fc.string({ unit: fc.constantFrom(..."&<>\"'];![CDATA-ab\u00e9\u{1f600}") });
    fc.assert(
      fc.property(text, text, (attribute, content) => {
        const value = { a: { "@b": attribute, c: [content, "x"] } };
        expect(plain(parseXml(buildXml(value)))).to.deep.equal(value);
      }),
    );
  });
});
