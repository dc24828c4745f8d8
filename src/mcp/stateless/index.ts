/** MCP where each POST stands for itself, in all revisions. Nothing is kept. */
export { answerPosted, type Posted, readPost } from './post.ts'
export { serveAsked, type ToolServer } from './results.ts'
