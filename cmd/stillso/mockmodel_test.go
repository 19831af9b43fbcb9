//go:build hosts

package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// modelServer stands in for the models that assistants call: it speaks four
// protocols, answers everything with one sentence, and keeps what it was asked.
type modelServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests []modelRequest
	tool     toolCall
}

// toolCall is what a model asks for once: when a prompt holds the words of when.
// space is the namespace of the tool, for hosts that have such.
type toolCall struct{ when, name, args, space string }

// use has the model call a tool at the next request that holds the words.
func (m *modelServer) use(c toolCall) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tool = c
}

// called returns the call that is due for a request.
func (m *modelServer) called(body string) toolCall {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.tool
	if c.when == "" || !strings.Contains(body, c.when) || !strings.Contains(body, `"`+c.name+`"`) {
		return toolCall{}
	}
	m.tool = toolCall{}
	return c
}

// modelRequest is one call for an answer.
type modelRequest struct{ path, body string }

// answerText is what every model says.
const answerText = "Understood, that is done."

func newModelServer(t *testing.T) *modelServer {
	m := &modelServer{}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// take returns the requests since the last call.
func (m *modelServer) take() []modelRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.requests
	m.requests = nil
	return list
}

// ServeHTTP answers one request by its path.
func (m *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		if z, err := gzip.NewReader(r.Body); err == nil {
			body = z
		}
	}
	data, _ := io.ReadAll(body)
	path := r.URL.Path
	var asked struct {
		Stream bool `json:"stream"`
	}
	_ = json.Unmarshal(data, &asked)
	keep := func() {
		m.mu.Lock()
		m.requests = append(m.requests, modelRequest{path, string(data)})
		m.mu.Unlock()
	}
	switch {
	case strings.HasSuffix(path, "/count_tokens"), strings.HasSuffix(path, ":countTokens"):
		reply(w, `{"input_tokens":10,"totalTokens":10}`)
	case strings.HasSuffix(path, "/messages"):
		keep()
		anthropicReply(w, asked.Stream, m.called(string(data)))
	case strings.HasSuffix(path, "/responses"):
		keep()
		responsesReply(w, m.called(string(data)))
	case strings.HasSuffix(path, "/chat/completions"):
		keep()
		chatReply(w, asked.Stream, m.called(string(data)))
	case strings.HasSuffix(path, ":streamGenerateContent"):
		keep()
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", geminiDoc(m.called(string(data))))
	case strings.HasSuffix(path, ":generateContent"):
		keep()
		reply(w, geminiDoc(m.called(string(data))))
	case strings.HasSuffix(path, "/models"):
		reply(w, `{"object":"list","data":[{"id":"mock-model","object":"model"}]}`)
	default:
		http.Error(w, `{"error":{"message":"no such thing here"}}`, http.StatusNotFound)
	}
}

func reply(w http.ResponseWriter, doc string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, doc)
}

// events writes server-sent events: a name and a document in turn.
func events(w http.ResponseWriter, list ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i := 0; i < len(list); i += 2 {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", list[i], list[i+1])
	}
}

func anthropicReply(w http.ResponseWriter, stream bool, call toolCall) {
	const head = `"id":"msg_0","type":"message","role":"assistant","model":"mock-model","stop_sequence":null`
	if !stream {
		reply(w, `{`+head+`,"stop_reason":"end_turn","content":[{"type":"text","text":"`+answerText+`"}],"usage":{"input_tokens":10,"output_tokens":5}}`)
		return
	}
	if call.name != "" {
		events(w,
			"message_start", `{"type":"message_start","message":{`+head+`,"stop_reason":null,"content":[],"usage":{"input_tokens":10,"output_tokens":1}}}`,
			"content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_0","name":"`+call.name+`","input":{}}}`,
			"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":`+quoted(call.args)+`}}`,
			"content_block_stop", `{"type":"content_block_stop","index":0}`,
			"message_delta", `{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":5}}`,
			"message_stop", `{"type":"message_stop"}`)
		return
	}
	events(w,
		"message_start", `{"type":"message_start","message":{`+head+`,"stop_reason":null,"content":[],"usage":{"input_tokens":10,"output_tokens":1}}}`,
		"content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+answerText+`"}}`,
		"content_block_stop", `{"type":"content_block_stop","index":0}`,
		"message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}`,
		"message_stop", `{"type":"message_stop"}`)
}

func responsesReply(w http.ResponseWriter, call toolCall) {
	item := `{"type":"message","id":"msg_0","role":"assistant","status":"completed","content":[{"type":"output_text","text":"` + answerText + `","annotations":[]}]}`
	if call.name != "" {
		space := ""
		if call.space != "" {
			space = `,"namespace":` + quoted(call.space)
		}
		item = `{"type":"function_call","id":"fc_0","call_id":"call_0","name":"` + call.name + `","arguments":` + quoted(call.args) + space + `}`
	}
	events(w,
		"response.created", `{"type":"response.created","response":{"id":"resp_0","object":"response","status":"in_progress"}}`,
		"response.output_item.done", `{"type":"response.output_item.done","output_index":0,"item":`+item+`}`,
		"response.completed", `{"type":"response.completed","response":{"id":"resp_0","object":"response","status":"completed","output":[`+item+`],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":0},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":15}}}`)
}

func chatReply(w http.ResponseWriter, stream bool, call toolCall) {
	if !stream {
		reply(w, `{"id":"c0","object":"chat.completion","created":1,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"`+answerText+`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	const head = `data: {"id":"c0","object":"chat.completion.chunk","created":1,"model":"mock-model","choices":[{"index":0,`
	if call.name != "" {
		_, _ = io.WriteString(w, head+`"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"`+call.name+`","arguments":`+quoted(call.args)+`}}]},"finish_reason":null}]}`+"\n\n"+
			head+`"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`+"\n\ndata: [DONE]\n\n")
		return
	}
	_, _ = io.WriteString(w, head+`"delta":{"role":"assistant","content":"`+answerText+`"},"finish_reason":null}]}`+"\n\n"+
		head+`"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`+"\n\ndata: [DONE]\n\n")
}

func geminiDoc(call toolCall) string {
	part := `{"text":"` + answerText + `"}`
	if call.name != "" {
		part = `{"functionCall":{"name":"` + call.name + `","args":` + call.args + `}}`
	}
	return `{"candidates":[{"content":{"role":"model","parts":[` + part + `]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}}`
}

func quoted(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}
