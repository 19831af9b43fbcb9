package llm

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxTrouble is the size up to which a text may be an error message; longer
// text is an answer, however bad, in which such words can stand by chance.
const maxTrouble = 4 << 10

// Trouble tells what is wrong when a text that should be an answer is a
// message of the model's maker instead: not logged in, a limit, a refusal, a
// tool call. It returns nil for any other text. The words are those that the
// programs and services print (hosts' own messages, seen in 2025 and 2026).
func Trouble(text string) error {
	if len(text) > maxTrouble {
		return nil
	}
	low := strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	for _, t := range []struct {
		kind  error
		do    string
		words []string
	}{
		{ErrNotLoggedIn, "log in with the program itself, or set its key, then run it once by hand", []string{
			"/login", "not logged in", "logged out", "please log in", "please login", "please sign in", "login required",
			"authentication required", "invalid api key", "invalid x-api-key", "incorrect api key", "invalid_api_key", "api key not valid",
			"authentication_error", "unauthenticated", "unauthorized", "401 ", "token has expired", "token expired", "set an auth method",
			"未登录", "请先登录", "请登录",
		}},
		{ErrLimited, "it is tried again later", []string{
			"rate limit", "rate_limit", "ratelimit", "usage limit", "session limit", "weekly limit", "hour limit", "limit reached",
			"hit your limit", "too many requests", "quota", "429 ", "overloaded", "resource_exhausted", "credit balance is too low",
			"out of credits", "使用上限", "请求过于频繁", "请求频率", "额度", "余额不足",
		}},
		{ErrTooLarge, "choose a model with a larger context, or a smaller window", []string{
			"prompt is too long", "context length", "context window", "context_length", "input is too long", "maximum number of tokens", "too many tokens",
		}},
		{ErrTool, "it is tried again later", []string{
			"<tool_call>", "<function_call", "<invoke ", "\"tool_use\"", "\"tool_calls\"", "\"function_call\"", "<|tool",
		}},
		{ErrRefused, "it is tried again later, with the next window", []string{
			"i can't help", "i cannot help", "i can't assist", "i cannot assist", "i'm sorry, but i can", "i am sorry, but i can",
			"i can't comply", "i cannot comply", "i can't provide", "i'm not able to", "i am not able to", "i'm unable to", "i am unable to",
			"i must decline", "unable to respond to this request", "violate our usage policy", "usage policy",
			"我无法", "无法协助", "无法提供", "抱歉", "对不起", "죄송", "도와드릴 수 없", "申し訳",
		}},
	} {
		for _, w := range t.words {
			if strings.Contains(low, w) {
				return &Error{Kind: t.kind, Detail: Short(text), Do: t.do, After: waitIn(low)}
			}
		}
	}
	return nil
}

var again = regexp.MustCompile(`(?:try again in|retry in|retry after|retry-after:?|resets? in|available in)\s+(\d{1,6})\s*(ms|s|m|h|d)?`)

// waitIn reads how long a message in lower case asks to wait; 0 if it does not say.
func waitIn(low string) time.Duration {
	m := again.FindStringSubmatch(low)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	unit := map[string]time.Duration{"ms": time.Millisecond, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[m[2]]
	if unit == 0 {
		unit = time.Second
	}
	const most = 7 * 24 * time.Hour
	return time.Duration(min(int64(n), int64(most/unit))) * unit
}

// RetryAfter reads the value of an HTTP Retry-After header: seconds, or a
// date. It is 0 if the value is neither, and at most 7 days.
func RetryAfter(value string, now time.Time) time.Duration {
	const most = 7 * 24 * time.Hour
	value = strings.TrimSpace(value)
	if s, err := strconv.ParseFloat(value, 64); err == nil && s >= 0 {
		return time.Duration(min(s, most.Seconds()) * float64(time.Second))
	}
	at, err := time.Parse(time.RFC1123, value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), most)
}
