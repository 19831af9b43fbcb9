package snapshot

const sysPreadv2 = 327
