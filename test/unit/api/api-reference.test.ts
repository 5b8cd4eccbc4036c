import { expect } from "chai";
import request from "supertest";
import { startApiUnderTest, type ApiUnderTest } from "./api-under-test";

describe("/docs/api", () => {
  let api: ApiUnderTest;
  before(async () => (api = await startApiUnderTest()));
  after(() => api.close());

  const referencesOf = (html: string) =>
    [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, reference]) => reference!);

  it("is a page of files of this host only, all of which are there", async () => {
    const page = await request(api.url).get("/docs/api");
    expect(page.headers["content-type"]).to.equal("text/html; charset=utf-8");
    const references = referencesOf(page.text);
    expect(references).to.have.length(4);
    for (const reference of references) {
      expect(reference).to.match(/^\/docs\/api\/[a-z0-9.-]+$/);
      const file = await request(api.url).get(reference).buffer(true);
      expect([reference, file.status]).to.deep.equal([reference, 200]);
      expect(Number(file.headers["content-length"])).to.be.above(100);
      expect(file.headers["content-type"]).to.match(/^(text\/(css|javascript); charset=utf-8|image\/png)$/);
    }
  });

  it("has no script or style inside, which its policy would refuse", async () => {
    const page = await request(api.url).get("/docs/api");
    const policy = page.headers["content-security-policy"];
    expect(policy)
      .to.contain("default-src 'none'")
      .and.contain("script-src 'self';")
      .and.contain("frame-ancestors 'none'");
    expect(policy).to.not.contain("unsafe").and.not.contain("http").and.not.contain("*");
    expect(page.text).to.not.match(/<script>|<style|style=|\son\w+=|javascript:/);
  });

  it("shows this service's document and asks no validator on the internet", async () => {
    const script = await request(api.url).get("/docs/api/show-document.js").buffer(true);
    expect(script.text).to.contain('url: "/openapi.json"').and.contain("validatorUrl: null").and.not.contain("http");
  });
});
