package sqlite

func child(string) int { return 0 }
