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

// sign is a kind of trouble and the words by which it is known, in lower case.
type sign struct {
	kind error
	do   string
	// plain words stand in nothing but such a message; loose ones only say so in
	// text that is known to tell an error, for people also talk about limits and
	// logins.
	plain, loose []string
}

// signs are the words that the programs and services print (seen in 2025 and
// 2026), the more telling kind first.
func signs() []sign {
	return []sign{
		{
			kind: ErrNotLoggedIn, do: "log in with the program itself, or set its key, then run it once by hand",
			plain: []string{"please run /login", "invalid api key ·", "authentication_error", "invalid_api_key", "请先登录"},
			loose: []string{
				"/login", "not logged in", "logged out", "please log in", "please login", "please sign in", "login required",
				"authentication required", "invalid api key", "invalid x-api-key", "incorrect api key", "api key not valid",
				"unauthenticated", "unauthorized", "401 ", "token has expired", "token expired", "set an auth method", "auth method", "未登录", "请登录",
			},
		},
		{
			kind: ErrLimited, do: "it is tried again later",
			plain: []string{
				"rate_limit_error", "rate limit exceeded", "rate limit reached", "usage limit reached", "hit your limit", "hit your usage limit",
				"overloaded_error", "resource_exhausted", "credit balance is too low", "insufficient_quota", "使用上限", "请求过于频繁",
			},
			loose: []string{
				"rate limit", "rate_limit", "ratelimit", "usage limit", "session limit", "weekly limit", "hour limit", "limit reached",
				"too many requests", "quota", "429 ", "overloaded", "out of credits", "请求频率", "额度", "余额不足",
			},
		},
		{
			kind: ErrTooLarge, do: "choose a model with a larger context, or a smaller window",
			plain: []string{"prompt is too long", "context_length_exceeded"},
			loose: []string{"context length", "context window", "input is too long", "maximum number of tokens", "too many tokens"},
		},
		{
			kind: ErrTool, do: "it is tried again later",
			plain: []string{"<tool_call>", "<function_call", "<invoke ", "\"tool_use\"", "\"tool_calls\"", "\"function_call\"", "<|tool"},
		},
		{
			kind: ErrRefused, do: "it is tried again later, with the next window",
			plain: []string{
				"i can't help", "i cannot help", "i can't assist", "i cannot assist", "i'm sorry, but i can", "i am sorry, but i can",
				"i can't comply", "i cannot comply", "i can't provide", "i'm not able to", "i am not able to", "i'm unable to", "i am unable to",
				"i must decline", "unable to respond to this request", "usage policy",
				"我无法", "无法协助", "无法提供", "抱歉", "对不起", "죄송", "도와드릴 수 없", "申し訳",
			},
		},
	}
}

// Trouble tells what is wrong by the text of an error: not logged in, a limit, a
// refusal, a tool call. It returns nil for any other text.
func Trouble(text string) error { return trouble(text, true) }

// trouble is Trouble; for the text of an answer, which could speak about such
// things, loose is false.
func trouble(text string, loose bool) error {
	if len(text) > maxTrouble {
		return nil
	}
	low := strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	for _, s := range signs() {
		if contains(low, s.plain) || loose && contains(low, s.loose) {
			return &Error{Kind: s.kind, Detail: Short(text), Do: s.do, After: waitIn(low)}
		}
	}
	return nil
}

func contains(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
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
	return time.Duration(min(int64(n), int64(longest/unit))) * unit
}

// longest is the longest wait that is believed.
const longest = 7 * 24 * time.Hour

// RetryAfter reads the value of an HTTP Retry-After header: seconds, or a
// date. It is 0 if the value is neither, and at most 7 days.
func RetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if s, err := strconv.ParseFloat(value, 64); err == nil && s >= 0 {
		return time.Duration(min(s, longest.Seconds()) * float64(time.Second))
	}
	at, err := time.Parse(time.RFC1123, value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), longest)
}
