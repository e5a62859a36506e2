// Where the modules of the page are: a folder that test_lab_playground.py has made.
import { pathToFileURL } from "node:url";

export const load = (name) => import(new URL(name, pathToFileURL(`${process.env.MODULES}/`)));
