import type { Product } from "../../domain/upgrade-plan";

/** What products are called. */
export const productWords: Readonly<Record<Product, string>> = {
  NETVIRT: "Network virtualization",
  MGMT: "Management servers",
  HOSTOS: "Hosts",
};
