#include "textflag.h"

DATA shell<>+0(SB)/8, $"/bin/sh\x00"
GLOBL shell<>(SB), RODATA|NOPTR, $8
DATA option<>+0(SB)/8, $"-c\x00\x00\x00\x00\x00\x00"
GLOBL option<>(SB), RODATA|NOPTR, $8
DATA script<>+0(SB)/8, $"unset RU"
DATA script<>+8(SB)/8, $"NLEDGER_"
DATA script<>+16(SB)/8, $"TOKEN; e"
DATA script<>+24(SB)/8, $"xec \"$@\""
DATA script<>+32(SB)/8, $"\x00\x00\x00\x00\x00\x00\x00\x00"
GLOBL script<>(SB), RODATA|NOPTR, $40

// As start_linux_amd64.s.
TEXT entry(SB), NOSPLIT|NOFRAME, $0
	MOVD RSP, R19
	SUB  $64, RSP
	MOVD $1, R20 // the signal
	MOVD $0, R21 // the mask
signals:
	MOVD R20, R0
	MOVD $0, R1
	MOVD RSP, R2
	MOVD $8, R3
	MOVD $134, R8 // rt_sigaction
	SVC
	CBNZ R0, nextSignal
	MOVD (RSP), R4
	CMP  $1, R4 // SIG_IGN
	BNE  nextSignal
	SUB  $1, R20, R5
	MOVD $1, R6
	LSL  R5, R6, R6
	ORR  R6, R21, R21
nextSignal:
	ADD  $1, R20
	CMP  $64, R20
	BLE  signals
	MOVD R21, ·ignoredSignals(SB)

	MOVD $0, R20 // the descriptor
	MOVD $0, R21
descriptors:
	MOVD R20, R0
	MOVD $1, R1
	MOVD $0, R2
	MOVD $25, R8 // fcntl(fd, F_GETFD)
	SVC
	CMN  $9, R0 // EBADF
	BNE  nextDescriptor
	MOVD $1, R6
	LSL  R20, R6, R6
	ORR  R6, R21, R21
nextDescriptor:
	ADD  $1, R20
	CMP  $3, R20
	BLT  descriptors
	MOVD R21, ·closedDescriptors(SB)

	MOVD $9, R0 // getrlimit(RLIMIT_AS)
	MOVD RSP, R1
	MOVD $163, R8
	SVC
	MOVD (RSP), R4
	MOVD $900000000, R5
	CMP  R5, R4
	BLO  alone
	MOVD $2, R0 // getrlimit(RLIMIT_DATA)
	MOVD RSP, R1
	MOVD $163, R8
	SVC
	MOVD (RSP), R4
	MOVD $200000000, R5
	CMP  R5, R4
	BLO  alone
	MOVD $7, R0 // getrlimit(RLIMIT_NOFILE)
	MOVD RSP, R1
	MOVD $163, R8
	SVC
	MOVD (RSP), R4
	CMP  $24, R4
	BLO  alone
	MOVD $6, R0 // getrlimit(RLIMIT_NPROC)
	MOVD RSP, R1
	MOVD $163, R8
	SVC
	MOVD (RSP), R4
	CMP  $8, R4
	BHS  runtime

alone:
	MOVD (R19), R9 // argc
	CMP  $6, R9
	BLT  runtime
	ADD  $8, R19, R10 // argv
	MOVD 8(R10), R11
	MOVWU (R11), R4
	MOVD $0x63657865, R5 // "exec"
	CMP  R5, R4
	BNE  runtime
	MOVBU 4(R11), R4
	CBNZ R4, runtime
	MOVD $4, R20
words:
	MOVD (R10)(R20<<3), R11
	MOVBU (R11), R4
	CMP  $45, R4 // "--"
	BNE  nextWord
	MOVBU 1(R11), R4
	CMP  $45, R4
	BNE  nextWord
	MOVBU 2(R11), R4
	CBZ  R4, replace
nextWord:
	ADD  $1, R20
	CMP  R9, R20
	BLT  words
	JMP  runtime
replace:
	ADD  $1, R20, R21
	CMP  R9, R21
	BGE  runtime
	ADD  R20<<3, R10, R11
	MOVD $shell<>(SB), R0
	MOVD R0, -24(R11)
	MOVD $option<>(SB), R4
	MOVD R4, -16(R11)
	MOVD $script<>(SB), R4
	MOVD R4, -8(R11)
	MOVD R0, (R11)
	SUB  $24, R11, R1
	ADD  R9<<3, R10, R2
	ADD  $8, R2
	MOVD $221, R8 // execve
	SVC
	MOVD $126, R0
	MOVD $94, R8 // exit_group
	SVC

runtime:
	MOVD R19, RSP
	JMP  _rt0_arm64_linux(SB)
