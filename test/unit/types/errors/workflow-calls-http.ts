// expect TS2304 with workflows/tsconfig.json
export const answer = fetch("http://127.0.0.1:8090");
