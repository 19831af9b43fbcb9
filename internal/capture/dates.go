package capture

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// dated is one form of relative date and how it becomes absolute.
type dated struct {
	form *regexp.Regexp
	// when returns the words in place of the match; m are the submatches.
	when func(day time.Time, m []string) string
}

const (
	isoDay   = "2006-01-02"
	isoMonth = "2006-01"
)

var relativeDates = sync.OnceValue(func() []dated {
	re := regexp.MustCompile
	day := func(n int) func(time.Time, []string) string {
		return func(d time.Time, _ []string) string { return d.AddDate(0, 0, n).Format(isoDay) }
	}
	month := func(n int) func(time.Time, []string) string {
		return func(d time.Time, _ []string) string { return firstOfMonth(d).AddDate(0, n, 0).Format(isoMonth) }
	}
	year := func(n int) func(time.Time, []string) string {
		return func(d time.Time, _ []string) string { return strconv.Itoa(d.Year() + n) }
	}
	week := func(n int, text string) func(time.Time, []string) string {
		return func(d time.Time, _ []string) string {
			return fmt.Sprintf(text, monday(d).AddDate(0, 0, 7*n).Format(isoDay))
		}
	}
	offset := func(sign int) func(time.Time, []string) string {
		return func(d time.Time, m []string) string { return moved(d, m, sign) }
	}
	return []dated{
		{re(`(?i)\bthe day after tomorrow\b`), day(2)},
		{re(`(?i)\bthe day before yesterday\b`), day(-2)},
		{re(`(?i)\b(?:today|tonight|this (?:morning|afternoon|evening))\b`), day(0)},
		{re(`(?i)\btomorrow\b`), day(1)},
		{re(`(?i)\byesterday\b`), day(-1)},
		{re(`(?i)\b(next|last|this|coming) (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b`), weekday},
		{re(`(?i)\bnext week\b`), week(1, "the week of %s")},
		{re(`(?i)\blast week\b`), week(-1, "the week of %s")},
		{re(`(?i)\bthis week\b`), week(0, "the week of %s")},
		{re(`(?i)\bnext month\b`), month(1)},
		{re(`(?i)\blast month\b`), month(-1)},
		{re(`(?i)\bthis month\b`), month(0)},
		{re(`(?i)\bnext year\b`), year(1)},
		{re(`(?i)\blast year\b`), year(-1)},
		{re(`(?i)\bthis year\b`), year(0)},
		{re(`(?i)\bin (\d{1,3}|a|one|two|three) (day|week|month)s?\b`), offset(1)},
		{re(`(?i)\b(\d{1,3}|a|one|two|three) (day|week|month)s? ago\b`), offset(-1)},
		{re(`大后天|大後天`), day(3)},
		{re(`后天|後天|あさって|明後日|모레`), day(2)},
		{re(`前天|おととい|一昨日|그저께`), day(-2)},
		{re(`今天|今日|今晚|오늘`), day(0)},
		{re(`明天|明日|내일`), day(1)},
		{re(`昨天|昨日|어제`), day(-1)},
		{re(`(下|上|这|這|本)个?(?:周|週|星期|礼拜|禮拜)([一二三四五六日天])`), weekdayZH},
		{re(`下个?(?:周|週|星期|礼拜)|다음 ?주|来週`), week(1, "%s当周")},
		{re(`上个?(?:周|週|星期|礼拜)|지난 ?주|先週`), week(-1, "%s当周")},
		{re(`(?:本|这个?|這個?)(?:周|週|星期)|이번 ?주|今週`), week(0, "%s当周")},
		{re(`下个?月|下個月|다음 ?달|来月`), month(1)},
		{re(`上个?月|上個月|지난 ?달|先月`), month(-1)},
		{re(`本月|这个月|這個月|이번 ?달|今月`), month(0)},
		{re(`明年|내년|来年`), year(1)},
		{re(`去年|작년|昨年`), year(-1)},
		{re(`今年|올해`), year(0)},
		{re(`(\d{1,3})\s*(天|周|个月)(?:之)?后`), offset(1)},
		{re(`(\d{1,3})\s*(天|周|个月)(?:之)?前`), offset(-1)},
	}
})

// absolute makes the relative dates of s absolute, seen from the day on which it
// was said. What stands in quotation marks or backquotes stays.
func absolute(s string, said time.Time) string {
	if said.IsZero() {
		return s
	}
	for _, d := range relativeDates() {
		at := d.form.FindAllStringSubmatchIndex(s, 8)
		for i := len(at) - 1; i >= 0; i-- {
			p := at[i]
			if strings.Count(s[:p[0]], "`")%2 == 1 || strings.Count(s[:p[0]], `"`)%2 == 1 || sinceWhen(s, p[0]) {
				continue
			}
			var m []string
			for k := 0; k+1 < len(p); k += 2 {
				if p[k] < 0 {
					m = append(m, "")
					continue
				}
				m = append(m, s[p[k]:p[k+1]])
			}
			s = s[:p[0]] + d.when(said, m) + s[p[1]:]
		}
	}
	return s
}

// sinceWhen reports whether the date at i only says since when a rule holds
// ("from today on"): that is left as it is said.
func sinceWhen(s string, i int) bool {
	before := strings.ToLower(s[:i])
	return strings.HasSuffix(before, "from ") || strings.HasSuffix(before, "从") || strings.HasSuffix(before, "從")
}

func firstOfMonth(d time.Time) time.Time {
	return time.Date(d.Year(), d.Month(), 1, 0, 0, 0, 0, d.Location())
}

func monday(d time.Time) time.Time {
	return d.AddDate(0, 0, -((int(d.Weekday()) + 6) % 7))
}

func moved(d time.Time, m []string, sign int) string {
	n, err := strconv.Atoi(m[1])
	if err != nil {
		switch strings.ToLower(m[1]) {
		case "two":
			n = 2
		case "three":
			n = 3
		default:
			n = 1
		}
	}
	n *= sign
	switch strings.ToLower(m[2]) {
	case "week", "周":
		return d.AddDate(0, 0, 7*n).Format(isoDay)
	case "month", "个月":
		return firstOfMonth(d).AddDate(0, n, 0).Format(isoMonth)
	}
	return d.AddDate(0, 0, n).Format(isoDay)
}

func weekday(d time.Time, m []string) string {
	days := [...]string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
	for i, w := range days {
		if w != strings.ToLower(m[2]) {
			continue
		}
		base := monday(d)
		switch strings.ToLower(m[1]) {
		case "next":
			base = base.AddDate(0, 0, 7)
		case "last":
			base = base.AddDate(0, 0, -7)
		}
		return base.AddDate(0, 0, i).Format(isoDay)
	}
	return m[0]
}

func weekdayZH(d time.Time, m []string) string {
	base := monday(d)
	switch m[1] {
	case "下":
		base = base.AddDate(0, 0, 7)
	case "上":
		base = base.AddDate(0, 0, -7)
	}
	i := strings.Index("一二三四五六日", m[2]) / len("一")
	if m[2] == "天" {
		i = 6
	}
	return base.AddDate(0, 0, i).Format(isoDay)
}
