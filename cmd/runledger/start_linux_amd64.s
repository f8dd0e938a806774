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

// The entry of the program (`-ldflags=-E=entry`). Notes which signals are ignored and which
// standard descriptors are closed, then enters Go's runtime, which changes both. Where limits are
// too low for the runtime, the command of `exec` runs alone. Leaves the stack as the kernel made
// it: the runtime reads the arguments there.
TEXT entry(SB), NOSPLIT|NOFRAME, $0
	MOVQ SP, R15
	SUBQ $64, SP // struct kernel_sigaction: 32 bytes; struct rlimit: 16 bytes
	MOVQ $1, R12 // the signal
	MOVQ $0, R13 // the mask
signals:
	MOVQ $13, AX // rt_sigaction(signal, 0, &old, 8)
	MOVQ R12, DI
	MOVQ $0, SI
	MOVQ SP, DX
	MOVQ $8, R10
	SYSCALL
	CMPQ AX, $0
	JNE  nextSignal
	CMPQ (SP), $1 // SIG_IGN
	JNE  nextSignal
	MOVQ R12, CX
	SUBQ $1, CX
	MOVQ $1, AX
	SHLQ CX, AX
	ORQ  AX, R13
nextSignal:
	ADDQ $1, R12
	CMPQ R12, $64
	JLE  signals
	MOVQ R13, ·ignoredSignals(SB)

	MOVQ $0, R12 // the descriptor
	MOVQ $0, R13
descriptors:
	MOVQ $72, AX // fcntl(fd, F_GETFD)
	MOVQ R12, DI
	MOVQ $1, SI
	MOVQ $0, DX
	SYSCALL
	CMPQ AX, $-9 // EBADF
	JNE  nextDescriptor
	MOVQ R12, CX
	MOVQ $1, AX
	SHLQ CX, AX
	ORQ  AX, R13
nextDescriptor:
	ADDQ $1, R12
	CMPQ R12, $3
	JLT  descriptors
	MOVQ R13, ·closedDescriptors(SB)

	MOVQ $97, AX // getrlimit(RLIMIT_AS)
	MOVQ $9, DI
	MOVQ SP, SI
	SYSCALL
	MOVQ $900000000, R8
	CMPQ (SP), R8
	JCS  alone
	MOVQ $97, AX // getrlimit(RLIMIT_DATA)
	MOVQ $2, DI
	MOVQ SP, SI
	SYSCALL
	MOVQ $200000000, R8
	CMPQ (SP), R8
	JCS  alone
	MOVQ $97, AX // getrlimit(RLIMIT_NOFILE)
	MOVQ $7, DI
	MOVQ SP, SI
	SYSCALL
	CMPQ (SP), $24
	JCS  alone
	MOVQ $97, AX // getrlimit(RLIMIT_NPROC)
	MOVQ $6, DI
	MOVQ SP, SI
	SYSCALL
	CMPQ (SP), $8
	JCC  runtime

alone: // sh -c script sh COMMAND…, in the place of the words before the command
	MOVQ (R15), R8 // argc
	CMPQ R8, $6 // runledger exec --automation ID -- COMMAND
	JLT  runtime
	LEAQ 8(R15), R10 // argv
	MOVQ 8(R10), R9
	CMPL (R9), $0x63657865 // "exec"
	JNE  runtime
	CMPB 4(R9), $0
	JNE  runtime
	MOVQ $4, R12
words:
	MOVQ (R10)(R12*8), R9
	CMPB (R9), $45 // "--"
	JNE  nextWord
	CMPB 1(R9), $45
	JNE  nextWord
	CMPB 2(R9), $0
	JEQ  replace
nextWord:
	ADDQ $1, R12
	CMPQ R12, R8
	JLT  words
	JMP  runtime
replace:
	LEAQ 1(R12), R13
	CMPQ R13, R8
	JGE  runtime
	LEAQ (R10)(R12*8), R9
	LEAQ shell<>(SB), DI
	MOVQ DI, -24(R9)
	LEAQ option<>(SB), AX
	MOVQ AX, -16(R9)
	LEAQ script<>(SB), AX
	MOVQ AX, -8(R9)
	MOVQ DI, (R9)
	LEAQ -24(R9), SI
	LEAQ 8(R10)(R8*8), DX // the environment
	MOVQ $59, AX // execve
	SYSCALL
	MOVQ $231, AX // exit_group(126)
	MOVQ $126, DI
	SYSCALL

runtime:
	MOVQ R15, SP
	JMP  _rt0_amd64_linux(SB)
