// expect TS2591 with workflows/tsconfig.json
export const retries = process.env["RETRIES"];
