/** The first line of a file of declarations that `make demo` may replace. */
export const replaceable = '# Made by Runledger: `make demo` replaces this file while this line is its first.';
