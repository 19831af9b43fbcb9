// Made by `stillso install opencode`; `stillso uninstall opencode` takes it away.
// It calls stillso-hook, never waits longer than LIMIT for it, and lets nothing
// that goes wrong reach the prompt.
import { spawn } from "node:child_process"

const PROGRAM = "@PROGRAM@"
const LIMIT = 400 // milliseconds

function call(event, doc) {
  return new Promise((resolve) => {
    let out = ""
    let child
    const timer = setTimeout(() => {
      try { child?.kill("SIGKILL") } catch {}
      resolve("")
    }, LIMIT)
    const finish = (text) => { clearTimeout(timer); resolve(text) }
    try {
      child = spawn(PROGRAM, ["opencode", event], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      child.on("error", () => finish(""))
      child.stdin.on("error", () => {})
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (s) => { if (out.length < 65536) out += s })
      child.on("close", () => finish(out))
      child.stdin.end(JSON.stringify(doc))
    } catch {
      finish("")
    }
  })
}

function context(out) {
  try {
    const text = JSON.parse(out).additionalContext
    return typeof text === "string" ? text : ""
  } catch {
    return ""
  }
}

export const Stillso = async ({ directory }) => {
  const children = new Set() // sessions of sub-agents: nobody types there
  const starts = new Map() // what each session began with: the same at every request
  const start = (id, source) => {
    if (starts.size > 1000) starts.clear()
    starts.set(id, call("session-start", { session_id: id, cwd: directory, source }).then(context, () => ""))
    return starts.get(id)
  }
  return {
    event: async ({ event }) => {
      try {
        const p = event.properties ?? {}
        if (event.type === "session.created" && p.info?.parentID) children.add(p.info.id)
        if (!p.sessionID || children.has(p.sessionID)) return
        if (event.type === "session.idle") await call("turn-end", { session_id: p.sessionID, cwd: directory })
        if (event.type === "session.compacted") await start(p.sessionID, "compact")
      } catch {}
    },
    "experimental.chat.system.transform": async (input, output) => {
      try {
        const id = input?.sessionID
        if (!id || children.has(id)) return
        const text = await (starts.get(id) ?? start(id, "startup"))
        if (text) output.system.push(text)
      } catch {}
    },
    "chat.message": async (input, output) => {
      try {
        const id = input.sessionID ?? output.message?.sessionID
        const texts = output.parts.filter((p) => p.type === "text" && !p.synthetic && p.text)
        if (!id || children.has(id) || texts.length === 0) return
        const text = context(await call("prompt", { session_id: id, cwd: directory, prompt: texts.map((p) => p.text).join("\n") }))
        const last = output.parts[output.parts.length - 1]
        if (text) output.parts.push({ id: last.id + "z", sessionID: last.sessionID, messageID: last.messageID, type: "text", text, synthetic: true })
      } catch {}
    },
  }
}
