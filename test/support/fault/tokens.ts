export const organization = 'acme';
export const token = 'fault-token-of-acme-0123456789';
export const pingKey = 'fault-ping-key-of-acme-0123456789';

/** The entries of the organization's Secret. */
export const tokenEntries = { 'token-1': token, 'ping-1': pingKey };
