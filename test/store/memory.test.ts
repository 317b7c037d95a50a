/** The memory engine keeps the contract. */
import { createMemoryEngine } from "../../src/store/memory.ts";
import { describeStoreContract } from "./store-contract.ts";

describeStoreContract("memory", async () => async () => createMemoryEngine(), false);
