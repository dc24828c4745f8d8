/** MCP where each POST stands for itself, in all revisions. Nothing is kept. */
export { answerPosted, readPost } from './post.ts'
export { serveAsked, type ToolServer } from './results.ts'
