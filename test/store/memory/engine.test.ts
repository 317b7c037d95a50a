/** The memory engine keeps the contract. */
import { createMemoryEngine } from "../../../src/store/memory/engine.ts";
import { describeStoreContract } from "../store-contract.ts";

describeStoreContract("memory", async () => createMemoryEngine());
