package shred
