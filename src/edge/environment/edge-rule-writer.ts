import { systemExec } from "../../platform/linux/exec.ts";
import { createNft, type Nft } from "../../platform/linux/nft/nft.ts";
import { type NftGeneration, openNftGeneration } from "../../platform/linux/nft/nft-generation.ts";

/** Writes the rules of a node into the kernel, and again where anybody wrote rules since. */
export class EdgeRuleWriter {
  readonly #nft: Nft = createNft(systemExec);
  readonly #generation: NftGeneration = openNftGeneration();
  #script = "";
  /** That this script made. */
  #written = 0;

  /** @returns whether there was anything to do. @throws CoreError what nft says */
  async write(script: string): Promise<boolean> {
    const isAsWritten = (await this.#generation.read()) === this.#written;
    if (isAsWritten && script === this.#script) return false;
    await this.#nft.run(script);
    this.#script = script;
    this.#written = await this.#generation.read();
    return true;
  }

  /** What another script left is removed by this one. */
  async remove(script: string): Promise<void> {
    await this.#nft.run(script);
    this.#script = "";
  }

  close(): void {
    this.#generation.close();
  }
}
