module simdenc_speed

go 1.26

require github.com/dans-stuff/simdenc v0.3.0
