import { expect } from "chai";
import { allPages } from "../../../src/cli/all-pages";

const element = (n: number) => ({ id: `${n}` });
/** A list of the service; `asked` runs before each page is read. */
const listOf = (all: () => { id: string }[], asked: (page: number) => void = () => undefined) => {
  const pages: number[] = [];
  const read = async ({ pageNumber, pageSize }: { pageNumber: string; pageSize: string }) => {
    const [page, size] = [Number(pageNumber), Number(pageSize)];
    pages.push(page);
    asked(pages.length);
    const elements = all().slice(page * size, (page + 1) * size);
    return { elements, pageMetadata: { totalElements: all().length } };
  };
  return { pages, read };
};

describe("allPages", () => {
  const many = Array.from({ length: 2500 }, (_, n) => element(n));

  it("reads page after page, each element once", async () => {
    const { pages, read } = listOf(() => many);
    const { elements, total } = await allPages(read);
    expect(elements).to.deep.equal(many);
    expect(total).to.equal(2500);
    expect(pages).to.deep.equal([0, 1, 2]);
  });

  it("finds what slips into a page that is read already", async () => {
    let all = many;
    // After the first page one of it ends, and goes behind all that still run: the others move up.
    const { read } = listOf(
      () => all,
      (asked) => {
        if (asked === 2) all = [...many.slice(1), element(0)];
      },
    );
    const { elements } = await allPages(read);
    expect(new Set(elements.map(({ id }) => id)).size).to.equal(2500);
  });

  it("does not walk for ever after what cannot be read", async () => {
    const { pages, read } = listOf(() => many);
    const unreadable = async (paging: { pageNumber: string; pageSize: string }) => {
      const page = await read(paging);
      return { ...page, elements: page.elements.filter(({ id }) => id !== "7") };
    };
    const { elements, total } = await allPages(unreadable);
    expect([elements.length, total]).to.deep.equal([2499, 2500]);
    expect(pages).to.have.length(9);
  });

  it("reads no further than it is needed", async () => {
    const { pages, read } = listOf(() => many);
    await allPages(read, (found) => found.has("3"));
    expect(pages).to.deep.equal([0]);
  });
});
