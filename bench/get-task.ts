/** Reads a Task whole; returns the bytes of its body. Throws where the answer is not 200. */
export async function getTask(apiUrl: string, id: string): Promise<number> {
  const response = await fetch(`${apiUrl}/v1/tasks/${id}`);
  const body = await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`GET task answered ${response.status}`);
  return body.byteLength;
}
