// Asks a Jira with its client jira.js and prints what it understood: node jira.mjs VERSION HOST EMAIL TOKEN KEY
import { Version2Client, Version3Client } from "jira.js";

const [version, host, email, apiToken, key] = process.argv.slice(2);
const Client = version === "3" ? Version3Client : Version2Client;
const client = new Client({ host, authentication: { basic: { email, apiToken } } });
const told = {};
try {
  const issue = await client.issues.getIssue({ issueIdOrKey: key });
  told.issue = [issue.key, issue.fields.summary, issue.fields.status.name, issue.fields.labels];
  told.description = issue.fields.description;
  const page = await client.issueComments.getComments({ issueIdOrKey: key, maxResults: 10, expand: "properties" });
  told.comments = [page.total, page.comments.map((comment) => comment.properties?.[0]?.key ?? null)];
  const body = version === "3" ? { type: "doc", version: 1, content: [{ type: "paragraph", content: [{ type: "text", text: "from the client" }] }] } : "from the client";
  const added = await client.issueComments.addComment({ issueIdOrKey: key, comment: body, body });
  told.added = typeof added.id;
  if (version === "3") {
    const found = await client.issueSearch.searchForIssuesUsingJqlEnhancedSearch({ jql: 'text ~ "subtracts"', maxResults: 5, fields: ["summary"] });
    told.found = found.issues.map((one) => one.key);
  }
} catch (error) {
  told.error = [error.status ?? error.response?.status ?? null, error.name];
}
console.log(JSON.stringify(told));
