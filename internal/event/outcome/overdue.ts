/** Hours after which a running execution is overdue: it was probably killed without an END. */
export const overdueAfterHours = 24;
