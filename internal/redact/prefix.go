package redact

import "strings"

// class is a set of ASCII characters.
type class uint8

const (
	upperSet class = 1 << iota
	lowerSet
	digitSet
	hexSet   // 0-9 a-f A-F
	dashSet  // - _
	dotSet   // .
	baseSet  // + / =
	colonSet // :
)

const (
	alnum  = upperSet | lowerSet | digitSet
	word   = alnum | dashSet
	caps   = upperSet | digitSet
	dotted = word | dotSet
	base64 = alnum | dashSet | baseSet
)

// prefixRule finds a token by its fixed beginning and the shape of what follows.
type prefixRule struct {
	rule   string
	prefix string
	rest   class
	// min and max bound the length of what follows the prefix; max 0 is no bound.
	min, max int
	// mixed asks for at least one digit in what follows, for prefixes that may
	// also begin an ordinary identifier.
	mixed bool
}

// prefixes are the beginnings that the issuers of these keys publish, so that
// scanners can find them. Lengths are a little below those documented: a token
// that was cut is still worth hiding.
var prefixes = [...]prefixRule{
	{"aws-key", "AKIA", caps, 16, 16, false},
	{"aws-key", "ASIA", caps, 16, 16, false},
	{"aws-key", "ABIA", caps, 16, 16, false},
	{"aws-key", "ACCA", caps, 16, 16, false},
	{"alibaba-key", "LTAI", alnum, 12, 24, true},
	{"tencent-key", "AKID", alnum, 28, 40, true},
	{"github-token", "ghp_", alnum, 30, 0, false},
	{"github-token", "gho_", alnum, 30, 0, false},
	{"github-token", "ghu_", alnum, 30, 0, false},
	{"github-token", "ghs_", alnum, 30, 0, false},
	{"github-token", "ghr_", alnum, 30, 0, false},
	{"github-token", "github_pat_", word, 36, 0, false},
	{"gitlab-token", "glpat-", dotted, 18, 0, false},
	{"gitlab-token", "gldt-", dotted, 18, 0, false},
	{"gitlab-token", "glrt-", dotted, 18, 0, false},
	{"gitlab-token", "glcbt-", dotted, 18, 0, false},
	{"gitlab-token", "glptt-", dotted, 18, 0, false},
	{"gitlab-token", "glft-", dotted, 18, 0, false},
	{"gitlab-token", "glsoat-", dotted, 18, 0, false},
	{"gitlab-token", "glimt-", dotted, 18, 0, false},
	{"gitlab-token", "glagent-", dotted, 18, 0, false},
	{"gitlab-token", "gloas-", dotted, 18, 0, false},
	{"gitlab-token", "GR1348941", word, 18, 0, false},
	{"anthropic-key", "sk-ant-", word, 20, 0, false},
	{"openai-key", "sk-proj-", word, 20, 0, false},
	{"openai-key", "sk-svcacct-", word, 20, 0, false},
	{"openai-key", "sk-admin-", word, 20, 0, false},
	{"openrouter-key", "sk-or-v1-", word, 20, 0, false},
	{"langfuse-key", "sk-lf-", word, 20, 0, true},
	{"openai-key", "sk-", alnum, 20, 0, true},
	{"google-key", "AIza", word, 33, 37, false},
	{"google-token", "ya29.", word, 20, 0, false},
	{"google-secret", "GOCSPX-", word, 20, 0, false},
	{"google-refresh", "1//0", word, 30, 0, true},
	{"slack-token", "xoxb-", word, 16, 0, true},
	{"slack-token", "xoxp-", word, 16, 0, true},
	{"slack-token", "xoxa-", word, 16, 0, true},
	{"slack-token", "xoxr-", word, 16, 0, true},
	{"slack-token", "xoxs-", word, 16, 0, true},
	{"slack-token", "xoxo-", word, 16, 0, true},
	{"slack-token", "xoxe-", word, 16, 0, true},
	{"slack-token", "xoxe.xoxb-", word, 16, 0, true},
	{"slack-token", "xoxe.xoxp-", word, 16, 0, true},
	{"slack-token", "xapp-", word, 16, 0, true},
	{"slack-token", "xwfp-", word, 16, 0, true},
	{"slack-webhook", "hooks.slack.com/services/", alnum | baseSet, 20, 0, true},
	{"slack-webhook", "hooks.slack.com/workflows/", alnum | baseSet, 20, 0, true},
	{"slack-webhook", "hooks.slack.com/triggers/", alnum | baseSet, 20, 0, true},
	{"discord-webhook", "discord.com/api/webhooks/", word | baseSet, 30, 0, true},
	{"discord-webhook", "discordapp.com/api/webhooks/", word | baseSet, 30, 0, true},
	{"teams-webhook", "webhook.office.com/webhookb2/", word | baseSet | dotSet, 30, 0, true},
	{"stripe-key", "sk_live_", alnum, 10, 0, false},
	{"stripe-key", "sk_test_", alnum, 10, 0, false},
	{"stripe-key", "rk_live_", alnum, 10, 0, false},
	{"stripe-key", "rk_test_", alnum, 10, 0, false},
	{"webhook-secret", "whsec_", base64, 20, 0, true},
	{"twilio-key", "SK", hexSet, 32, 32, false},
	{"sendgrid-key", "SG.", dotted, 30, 0, true},
	{"mailgun-key", "key-", hexSet, 32, 32, false},
	{"brevo-key", "xkeysib-", word, 40, 0, false},
	{"npm-token", "npm_", alnum, 30, 0, false},
	{"pypi-token", "pypi-AgE", word, 30, 0, false},
	{"rubygems-key", "rubygems_", hexSet, 32, 0, false},
	{"crates-token", "cio", alnum, 32, 32, true},
	{"nuget-key", "oy2", alnum, 43, 43, true},
	{"clojars-token", "CLOJARS_", alnum, 40, 0, false},
	{"docker-token", "dckr_pat_", word, 20, 0, false},
	{"docker-token", "dckr_oat_", word, 20, 0, false},
	{"huggingface-token", "hf_", alnum, 30, 0, false},
	{"huggingface-token", "api_org_", alnum, 30, 0, false},
	{"shopify-token", "shpat_", hexSet, 30, 0, false},
	{"shopify-token", "shpca_", hexSet, 30, 0, false},
	{"shopify-token", "shppa_", hexSet, 30, 0, false},
	{"shopify-token", "shpss_", hexSet, 30, 0, false},
	{"digitalocean-token", "dop_v1_", hexSet, 40, 0, false},
	{"digitalocean-token", "doo_v1_", hexSet, 40, 0, false},
	{"digitalocean-token", "dor_v1_", hexSet, 40, 0, false},
	{"doppler-token", "dp.pt.", dotted, 30, 0, false},
	{"doppler-token", "dp.st.", dotted, 30, 0, false},
	{"doppler-token", "dp.ct.", dotted, 30, 0, false},
	{"doppler-token", "dp.sa.", dotted, 30, 0, false},
	{"doppler-token", "dp.scim.", dotted, 30, 0, false},
	{"doppler-token", "dp.audit.", dotted, 30, 0, false},
	{"linear-key", "lin_api_", alnum, 30, 0, false},
	{"linear-key", "lin_oauth_", alnum, 30, 0, false},
	{"notion-token", "ntn_", alnum, 30, 0, false},
	{"notion-token", "secret_", alnum, 40, 48, true},
	{"figma-token", "figd_", word, 30, 0, false},
	{"airtable-token", "pat", alnum | dotSet, 60, 0, true},
	{"atlassian-token", "ATATT3", base64, 40, 0, false},
	{"atlassian-token", "ATCTT3", base64, 40, 0, false},
	{"bitbucket-token", "ATBB", alnum, 28, 0, true},
	{"vault-token", "hvs.", word, 20, 0, false},
	{"vault-token", "hvb.", word, 20, 0, false},
	{"vault-token", "hvr.", word, 20, 0, false},
	{"databricks-token", "dapi", hexSet | dashSet, 32, 36, true},
	{"grafana-token", "glc_", base64, 30, 0, false},
	{"grafana-token", "glsa_", word, 30, 0, false},
	{"newrelic-key", "NRAK-", alnum, 24, 0, false},
	{"newrelic-key", "NRII-", word, 24, 0, false},
	{"newrelic-key", "NRAA-", word, 24, 0, false},
	{"sentry-token", "sntrys_", base64, 40, 0, false},
	{"sentry-token", "sntryu_", hexSet, 40, 0, false},
	{"postman-key", "PMAK-", hexSet | dashSet, 50, 0, false},
	{"pulumi-token", "pul-", hexSet, 40, 40, false},
	{"planetscale-token", "pscale_tkn_", dotted | baseSet, 30, 0, false},
	{"planetscale-token", "pscale_pw_", dotted | baseSet, 30, 0, false},
	{"planetscale-token", "pscale_oauth_", dotted | baseSet, 30, 0, false},
	{"prefect-key", "pnu_", alnum, 30, 0, false},
	{"readme-key", "rdme_", alnum, 60, 0, false},
	{"typeform-token", "tfp_", dotted | baseSet, 40, 0, false},
	{"square-token", "sq0atp-", word, 20, 0, false},
	{"square-token", "sq0csp-", word, 30, 0, false},
	{"paypal-token", "access_token$production$", alnum | dashSet | dollarless, 30, 0, false},
	{"facebook-token", "EAA", alnum, 80, 0, true},
	{"dynatrace-token", "dt0c01.", dotted, 60, 0, false},
	{"dynatrace-token", "dt0s01.", dotted, 60, 0, false},
	{"easypost-key", "EZAK", alnum, 50, 0, true},
	{"easypost-key", "EZTK", alnum, 50, 0, true},
	{"flutterwave-key", "FLWSECK-", word, 20, 0, false},
	{"flutterwave-key", "FLWSECK_TEST-", word, 12, 0, false},
	{"frameio-token", "fio-u-", word, 40, 0, false},
	{"age-key", "AGE-SECRET-KEY-1", caps, 40, 0, false},
	{"onepassword-token", "ops_eyJ", base64, 40, 0, false},
	{"artifactory-key", "AKCp", alnum, 60, 0, true},
	{"artifactory-token", "cmVmdGtu", alnum, 50, 0, false},
	{"cloudflare-key", "v1.0-", hexSet | dashSet, 140, 0, false},
	{"fly-token", "fo1_", word, 30, 0, false},
	{"fly-token", "fm2_", base64, 40, 0, false},
	{"groq-key", "gsk_", alnum, 40, 0, false},
	{"replicate-token", "r8_", alnum, 30, 0, false},
	{"perplexity-key", "pplx-", alnum, 30, 0, false},
	{"xai-key", "xai-", alnum, 40, 0, true},
	{"tavily-key", "tvly-", word, 24, 0, true},
	{"langsmith-key", "lsv2_pt_", word, 30, 0, false},
	{"langsmith-key", "lsv2_sk_", word, 30, 0, false},
	{"supabase-token", "sbp_", hexSet, 36, 0, false},
	{"supabase-token", "sb_secret_", word, 20, 0, false},
	{"vercel-token", "vercel_blob_rw_", word, 30, 0, false},
	{"netlify-token", "nfp_", alnum, 30, 0, false},
	{"render-key", "rnd_", alnum, 28, 0, true},
	{"infracost-key", "ico-", alnum, 28, 0, true},
	{"sourcegraph-token", "sgp_", hexSet | dashSet, 36, 0, true},
	{"buildkite-token", "bkua_", hexSet, 36, 0, false},
	{"circleci-token", "CCIPAT_", word, 40, 0, false},
	{"adobe-secret", "p8e-", alnum | dashSet, 28, 0, true},
	{"sonar-token", "squ_", hexSet, 36, 0, false},
	{"sonar-token", "sqp_", hexSet, 36, 0, false},
	{"sonar-token", "sqa_", hexSet, 36, 0, false},
	{"duffel-token", "duffel_live_", base64, 36, 0, false},
	{"duffel-token", "duffel_test_", base64, 36, 0, false},
	{"scalingo-token", "tk-us-", word, 40, 0, false},
	{"tailscale-key", "tskey-", word, 20, 0, true},
	{"resend-key", "re_", alnum | dashSet, 30, 40, true},
	{"posthog-key", "phx_", alnum, 36, 0, false},
	{"mapbox-token", "sk.eyJ", dotted, 40, 0, false},
	{"ionic-token", "ion_", alnum, 40, 0, true},
	{"yandex-key", "AQVN", word, 35, 38, true},
	{"intra-secret", "s-s4t2ud-", hexSet, 60, 0, false},
	{"intra-secret", "s-s4t2af-", hexSet, 60, 0, false},
	{"harness-token", "pat.", dotted, 60, 0, true},
	{"volcengine-key", "AKLT", base64, 40, 0, true},
	{"jina-key", "jina_", word, 40, 0, true},
	{"firecrawl-key", "fc-", hexSet, 32, 32, false},
	{"e2b-key", "e2b_", hexSet, 36, 0, false},
	{"cohere-key", "co_", alnum, 40, 40, true},
}

// dollarless marks that the rest of a PayPal token may hold $ as well.
const dollarless = colonSet

// token returns the end of the token of one of the rules that begins at i, and
// the rule's name; the end is 0 if there is none. The caller has seen to it that
// no letter or digit stands before i.
func token(s string, i int, rules []*prefixRule) (string, int) {
	for _, r := range rules {
		if len(s)-i < len(r.prefix)+r.min || !strings.HasPrefix(s[i:], r.prefix) {
			continue
		}
		from := i + len(r.prefix)
		near := min(len(s), from+longest)
		end := run(s[:near], from, r.rest)
		// A full stop or dash that ends a sentence is no part of a token.
		for end > from && !inClass(s[end-1], alnum|baseSet) {
			end--
		}
		n := end - from
		if n < r.min || r.max > 0 && n > r.max {
			continue
		}
		if end < len(s) && inClass(s[end], alnum) {
			continue
		}
		rest := s[from:end]
		if r.mixed && !strings.ContainsAny(rest, "0123456789") || placeholder(rest) {
			continue
		}
		if end == near {
			end = run(s, end, r.rest)
		}
		return r.rule, end
	}
	return "", 0
}

// run returns where the characters of set that begin at i end.
func run(s string, i int, set class) int {
	for i < len(s) && inClass(s[i], set) {
		i++
	}
	return i
}

func inClass(c byte, set class) bool {
	switch {
	case '0' <= c && c <= '9':
		return set&(digitSet|hexSet) != 0
	case 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F':
		if set&hexSet != 0 {
			return true
		}
		fallthrough
	case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		if c >= 'a' {
			return set&lowerSet != 0
		}
		return set&upperSet != 0
	case c == '-' || c == '_':
		return set&dashSet != 0
	case c == '.':
		return set&dotSet != 0
	case c == '+' || c == '/' || c == '=':
		return set&baseSet != 0
	case c == ':' || c == '$':
		return set&colonSet != 0
	}
	return false
}
