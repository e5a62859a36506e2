// Run a WebAssembly module in Node: a program, or a library, of which the names of all functions are printed.
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const wasi = new WASI({ version: "preview1", args: process.argv.slice(2) });
const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), wasi.getImportObject());
if (instance.exports._start) {
    process.exitCode = wasi.start(instance);
} else {
    wasi.initialize(instance);
    console.log(Object.keys(instance.exports).join("\n"));
}
