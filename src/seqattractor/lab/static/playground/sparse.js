import { Network } from "./networks.js";
export class SparseNetwork extends Network {}
