package terms

import "unicode/utf8"

// Stop reports whether a term says nothing about a topic: grammar, and the words
// of chat between a person and an assistant ("ok, go on", 帮我看看). Such terms are
// neither asked for nor indexed.
func Stop(t Term) bool {
	switch t.Kind {
	case Char:
		r, _ := utf8.DecodeRuneInString(t.Text)
		return dullChar(r)
	case Pair:
		return dullPair(t.Text)
	}
	return grammar(t.Text) || chat(t.Text) || elsewhere(t.Text)
}

// Elsewhere reports whether a term is grammar or chat of a language other than
// English that is written in the same letters. Where several stand together, words
// that no table knows are no sign of a rare topic: the language is.
func Elsewhere(t Term) bool { return t.Kind == Word && elsewhere(t.Text) }

// dullChar reports whether a single character is mostly grammar in Chinese,
// Korean or Japanese.
func dullChar(r rune) bool { return dullHan(r) || dullHangul(r) || dullKana(r) }

// dullPair reports whether a pair is grammar or chat, or leans on a character
// that never belongs to a name.
func dullPair(p string) bool {
	a, n := utf8.DecodeRuneInString(p)
	b, _ := utf8.DecodeRuneInString(p[n:])
	return hardHan(a) || hardHan(b) || chatHan(p) || chatHangul(p) ||
		dullHan(a) && dullHan(b) || dullHangul(a) && dullHangul(b) || dullKana(a) && dullKana(b)
}

// grammar lists English function words and their stems.
func grammar(w string) bool {
	switch w {
	case "about", "abov", "above", "after", "again", "against", "all", "alreadi", "already", "also", "although",
		"alwai", "always", "am", "an", "and", "ani", "any", "ar", "are", "aren", "as", "at", "be", "becau",
		"because", "been", "befor", "before", "being", "below", "between", "both", "but", "by", "can", "cannot", "cant",
		"could", "couldn", "did", "didn", "didnt", "do", "doe", "does", "doesn", "doesnt", "doing", "don", "dont",
		"down", "dure", "during", "each", "eg", "el", "else", "etc", "ever", "few", "for", "from", "further",
		"gonna", "ha", "had", "has", "hasn", "have", "haven", "having", "he", "her", "here", "heres", "hi", "him",
		"his", "how", "howev", "however", "id", "ie", "if", "im", "in", "into", "is", "isn", "isnt", "it", "its",
		"iv", "ive", "just", "let", "lets", "ll", "mai", "may", "me", "might", "more", "most", "must", "my",
		"never", "no", "nor", "not", "now", "of", "off", "on", "one", "ones", "onli", "only", "onto", "or",
		"other", "our", "out", "over", "own", "per", "re", "same", "shall", "she", "should", "shouldn", "so",
		"some", "still", "such", "than", "that", "thats", "the", "thei", "their", "them", "then", "there",
		"theres", "these", "they", "thi", "this", "those", "though", "through", "to", "too", "two", "under",
		"until", "up", "upon", "ur", "us", "ve", "veri", "very", "via", "wa", "wanna", "was", "wasn", "we", "were",
		"weren", "what", "whats", "when", "where", "which", "while", "who", "whom", "why", "will", "with",
		"within", "without", "won", "wont", "would", "wouldn", "yet", "you", "your", "youre":
		return true
	}
	return false
}

// chat lists, stemmed, what developers say to an assistant about anything.
func chat(w string) bool {
	switch w {
	case "abl", "actual", "add", "ah", "ahead", "anyth", "anywai", "awesom", "back", "basic", "best", "better", "bit",
		"came", "chang", "check", "come", "continu", "cool", "differ", "done", "even", "everi", "everyth", "fine",
		"first", "fix", "get", "give", "go", "good", "got", "great", "haha", "happen", "hei", "hello", "help",
		"hm", "hmm", "instead", "keep", "kind", "know", "last", "like", "littl", "lol", "look", "lot", "made",
		"make", "mani", "mayb", "mean", "moment", "morn", "much", "need", "new", "next", "nice", "nope", "noth",
		"oh", "ok", "okai", "old", "perfect", "pl", "plea", "plz", "probabl", "proce", "put", "realli", "right",
		"run", "sai", "said", "sec", "second", "see", "seem", "show", "someth", "sorri", "sort", "sound", "start",
		"stop", "stuff", "sure", "take", "tell", "thank", "thing", "think", "thx", "time", "todai", "told",
		"tomorrow", "try", "wai", "wait", "want", "well", "work", "wow", "ye", "yeah", "yep", "yesterdai":
		return true
	}
	return false
}

// elsewhere lists, folded and stemmed, grammar and chat of other languages: Spanish,
// Portuguese, French, German, Russian, some of Italian, Dutch, Polish, Turkish and
// Indonesian. Words that are English or a developer's word as well (mit, die, son,
// comment) are not in it.
func elsewhere(w string) bool {
	switch w {
	case "abbiamo", "aber", "adesso", "agli", "agora", "ahi", "ahora", "ainda", "ainsi", "ajuda", "algo", "alla", "alli", "allora", "alsjeblieft",
		"ama", "ancak", "anch", "ancora", "ander", "anderen", "apa", "aquel", "aqui", "aquilo", "asi", "assim", "att", "auch", "auf", "aun",
		"aussi", "autr", "avant", "avanti", "avec", "avoir", "ayudam", "bagaimana", "bedankt", "bei", "beim", "belum", "bem", "bene", "besoin",
		"bien", "bij", "bisa", "bitt", "bonjour", "brauch", "bueno", "bunu", "byc", "cela", "certo", "cet", "cett", "chce", "che", "ciao", "cok",
		"como", "continua", "continuar", "cua", "cual", "cuando", "czy", "daarna", "daha", "dalej", "dalla", "dank", "dann", "dari", "dass",
		"de", "degil", "degli", "dein", "deja", "dell", "della", "dello", "dem", "den", "dengan", "denn", "depoi", "desd", "despu", "devam",
		"deze", "dich", "dieser", "diga", "dime", "dla", "dlaczego", "dobrz", "doch", "donc", "dond", "dopo", "dort", "dove", "du", "duoc",
		"dziekuj", "een", "eerst", "ein", "einem", "einen", "einer", "eller", "encor", "entao", "entonc", "esa", "eso", "esser", "est", "esta",
		"estamo", "estar", "esto", "estoi", "estou", "etait", "etr", "etwa", "euch", "evet", "faca", "fare", "faz", "fazer", "foi", "fran",
		"fue", "funciona", "fur", "geen", "geht", "gibi", "gleich", "gli", "graag", "gracia", "grazi", "gut", "haben", "hace", "hacer", "hago",
		"hallo", "hangi", "hanno", "hasta", "hatt", "hayir", "haz", "heel", "hepsi", "het", "hier", "hilf", "hola", "ich", "ici", "icin", "ihr",
		"immer", "int", "intenta", "isso", "ist", "isto", "itu", "jag", "jestem", "jeszcz", "jetzt", "jij", "jouw", "kadar", "kamu", "kann",
		"kannst", "karena", "kasih", "kein", "kenapa", "khong", "konnen", "konnt", "ktora", "ktori", "kunnen", "lagi", "laquel", "lequel",
		"leur", "listo", "luego", "lutfen", "maar", "mach", "machen", "macht", "mainten", "mami", "mehr", "mein", "meinem", "meinen", "meiner",
		"meme", "merci", "mesmo", "meu", "mia", "mich", "minha", "mio", "mir", "misin", "misma", "mismo", "miyim", "mocht", "moet", "molto",
		"montr", "mostra", "mot", "moze", "mui", "muito", "naar", "nach", "nachher", "nada", "nao", "nasil", "necesito", "neden", "nein",
		"nella", "nello", "nhu", "nhung", "nicht", "nient", "niet", "noch", "nochmal", "nog", "non", "notr", "nur", "obrigada", "obrigado",
		"och", "ocksa", "oder", "ohn", "ola", "olan", "olarak", "olha", "omdat", "ond", "ont", "onz", "ook", "otimo", "otra", "otro", "oui",
		"outra", "outro", "para", "parfait", "perch", "perfecto", "perfeito", "perfekt", "pero", "peut", "peuvent", "peux", "piu", "podemo",
		"poniewaz", "porqu", "posso", "potem", "pourquoi", "pouvon", "preciso", "prego", "prosz", "przez", "przy", "puedo", "qual", "qualcosa",
		"quand", "quando", "que", "quella", "quelli", "quello", "quelqu", "quem", "quero", "questa", "questi", "questo", "qui", "quien",
		"quiero", "quindi", "quoi", "saya", "schau", "schon", "scusa", "segu", "seguir", "sehr", "sein", "seinem", "sekarang", "seu", "sie",
		"sigamo", "sigu", "simdi", "sin", "sind", "sobr", "soll", "sollt", "sono", "sonra", "sont", "sou", "stata", "stato", "sua", "sudah",
		"sulla", "sunu", "suo", "sur", "svp", "tamam", "tambem", "tambien", "tego", "tem", "tenemo", "tengo", "tenho", "tenta", "teraz",
		"terima", "tesekkurl", "tidak", "toda", "todo", "tolong", "tout", "tudo", "tutto", "uit", "uma", "una", "und", "uno", "unter", "untuk",
		"vai", "vamo", "van", "verder", "versuch", "veux", "vez", "voce", "voi", "vom", "von", "voor", "vorher", "votr", "voudrai", "waarom",
		"wann", "waren", "warum", "weil", "weiter", "wel", "welch", "welcher", "wenn", "wer", "werden", "wie", "wieder", "wij", "wir", "wird",
		"wordt", "wszystko", "wurd", "yang", "yapmam", "zeig", "zij", "zijn", "zou", "zum", "zur", "zwischen", "без", "бол", "больш", "буд",
		"будт", "бы", "был", "быт", "вам", "вас", "вед", "во", "вот", "все", "всегд", "всех", "всю", "вы", "где", "гот", "да", "дав", "даж",
		"дальш", "для", "до", "друг", "его", "ее", "ей", "ему", "есл", "ест", "еще", "же", "за", "зач", "здес", "из", "или", "им", "иногд",
		"исправ", "их", "как", "когд", "конечн", "крут", "кто", "куд", "ладн", "ли", "лучш", "межд", "мен", "мне", "мног", "мог", "мож", "можн",
		"мой", "моя", "мы", "на", "над", "нас", "не", "нег", "ней", "нельз", "нет", "ни", "них", "нич", "но", "ну", "нужн", "об", "один", "ок",
		"он", "она", "они", "опят", "от", "отличн", "перед", "по", "под", "пожалуйст", "покаж", "помен", "помог", "понял", "попроб", "посл",
		"посмотр", "пот", "поч", "почт", "при", "прив", "про", "продолж", "прост", "работ", "раз", "разв", "сам", "сво", "сдел", "себ", "сейчас",
		"скаж", "снач", "снов", "со", "совс", "спасиб", "так", "там", "теб", "тепер", "то", "тог", "тогд", "тож", "тольк", "том", "тот", "тут",
		"ты", "уже", "хорош", "хоч", "чег", "чем", "через", "что", "чтоб", "чут", "эти", "это", "этог", "этом", "этот", "эту", "ясн":
		return true
	}
	return false
}

// dullHan lists Chinese characters that are mostly grammar.
func dullHan(r rune) bool {
	switch r {
	case '上', '下', '不', '与', '个', '中', '为', '么', '之', '也', '了', '于', '些', '什', '从', '他', '以', '们',
		'会', '但', '你', '先', '其', '再', '则', '到', '前', '去', '又', '及', '只', '可', '吃', '后', '向',
		'吗', '吧', '呀', '呢', '和', '哈', '哎', '哦', '哪', '唉', '啊', '嗯', '嘛', '在', '地', '外', '太',
		'她', '好', '如', '它', '对', '就', '很', '得', '怎', '您', '想', '我', '或', '所', '把', '是', '有',
		'来', '样', '没', '牛', '的', '着', '等', '给', '而', '能', '若', '行', '被', '要', '让', '请', '跟',
		'过', '还', '这', '那', '都', '里', '继', '续', '帮', '看':
		return true
	}
	return false
}

// hardHan lists Chinese characters that are always grammar: a pair with one of
// them straddles two words.
func hardHan(r rune) bool {
	switch r {
	case '为', '么', '也', '了', '些', '什', '他', '们', '你', '又', '吗', '吧', '呀', '呢', '咋', '哈', '哎', '哦',
		'哪', '唉', '啊', '啥', '嗯', '嘛', '太', '她', '它', '就', '很', '怎', '我', '的', '还', '这', '那':
		return true
	}
	return false
}

// chatHan lists Chinese pairs of grammar and chat.
func chatHan(w string) bool {
	switch w {
	case "一下", "一个", "一样", "一点", "一直", "上次", "不是", "不用", "东西", "为什", "之前", "之后", "什么", "他们", "但是", "你们", "其实", "出来",
		"到底", "前面", "可以", "可能", "后面", "咋回", "哪个", "哪些", "哪里", "回事", "因为", "多少", "好的", "如果", "就是", "已经", "帮我", "应该",
		"怎么", "怎样", "感觉", "我们", "或者", "所以", "时候", "明明", "是不", "有没", "来着", "没有", "然后", "现在", "直接", "看一", "看看", "知道",
		"继续", "自己", "觉得", "谢谢", "起来", "还是", "这个", "这些", "这样", "这次", "这边", "这里", "那个", "那些", "那样", "那边", "那里", "问题",
		"需要":
		return true
	}
	return false
}

// dullHangul lists Korean syllables that are mostly particles and endings.
func dullHangul(r rune) bool {
	switch r {
	case '가', '거', '것', '게', '고', '그', '기', '까', '나', '네', '는', '다', '더', '도', '된', '될', '들', '또',
		'로', '를', '만', '면', '못', '뭐', '서', '수', '아', '안', '야', '어', '에', '왜', '요', '은', '을',
		'음', '의', '이', '임', '잘', '저', '좀', '줘', '지', '하', '한', '할', '해', '시':
		return true
	}
	return false
}

// chatHangul lists Korean pairs of grammar and chat.
func chatHangul(w string) bool {
	switch w {
	case "ㅋㅋ", "ㅎㅎ", "ㅠㅠ", "같아", "같은", "거기", "거야", "건가", "겠어", "계속", "고마", "그거", "그건", "그냥", "그래", "그런", "그럼", "그리",
		"근데", "까지", "나는", "나중", "내가", "너는", "네요", "는데", "는지", "니다", "다시", "다음", "됐어", "되는", "되어", "때문", "떻게", "라고",
		"려줘", "리고", "마워", "뭐야", "뭔가", "보다", "보여", "볼까", "봐줘", "부터", "세요", "습니", "싶어", "아까", "아요", "안녕", "않는", "않아",
		"알겠", "알려", "어떻", "어요", "없는", "없어", "에게", "에서", "여기", "오늘", "우리", "으로", "을까", "이거", "이건", "이따", "이라", "이랑",
		"이런", "이제", "인데", "있는", "있어", "잠깐", "잠시", "저거", "저는", "저런", "정도", "제가", "좋아", "지금", "처럼", "하게", "하고", "하는",
		"하면", "하지", "한테", "할게", "할까", "해도", "해봐", "해서", "해요", "해줘", "했는", "했어":
		return true
	}
	return false
}

// dullKana lists hiragana that are mostly particles and endings.
func dullKana(r rune) bool {
	switch r {
	case 'あ', 'い', 'う', 'え', 'お', 'か', 'が', 'き', 'く', 'け', 'こ', 'さ', 'し', 'す', 'せ', 'そ', 'た', 'だ',
		'っ', 'つ', 'て', 'で', 'と', 'な', 'に', 'ね', 'の', 'は', 'へ', 'ま', 'も', 'や', 'よ', 'ら', 'り',
		'る', 'れ', 'を', 'ん':
		return true
	}
	return false
}
