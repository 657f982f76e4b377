// What the dashboard loads when it shows a pipeline: a chunk of its own.
export { Sections } from "./sections";
export { StartPage } from "./start";
