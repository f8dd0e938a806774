import { EncryptJWT, exportJWK, generateKeyPair, importJWK, jwtDecrypt, type CryptoKey, type JWK } from 'jose';
import type { Scope } from './token-entry.ts';

/** Proves to the controller who asks: the id token of an owner, or a manage token. */
export type Proof = { readonly idToken: string } | { readonly manageToken: string };

/** What a proof is for. It proves nothing else. */
export interface ProvenRequest {
  readonly id: string;
  readonly organization: string;
  readonly act: string;
  readonly digest: string;
  readonly kind: Scope;
  readonly name: string;
  readonly expires_at: Date | null;
}

const [alg, enc] = ['ECDH-ES', 'A256GCM'] as const;

/** How long a proof is accepted: as long as the login of an owner. */
const longest = '1h';

/**
 * Encrypts a proof for the controller that has published the key, so that nobody else reads it in
 * Postgres, its log or its backups.
 */
export async function sealProof(publicKey: string, request: ProvenRequest, proof: Proof): Promise<string> {
  const key = await importJWK(JSON.parse(publicKey) as JWK, alg);
  return new EncryptJWT({ proof, request: textOf(request) })
    .setProtectedHeader({ alg, enc })
    .setIssuedAt()
    .setExpirationTime(longest)
    .encrypt(key);
}

/** The key of a controller. Its private part never leaves the process. */
export class ProofKey {
  readonly #privateKey: CryptoKey;
  /** For {@link sealProof}. */
  readonly publicKey: string;

  private constructor(privateKey: CryptoKey, publicKey: string) {
    this.#privateKey = privateKey;
    this.publicKey = publicKey;
  }

  static async make(): Promise<ProofKey> {
    const { publicKey, privateKey } = await generateKeyPair(alg, { crv: 'X25519' });
    return new ProofKey(privateKey, JSON.stringify(await exportJWK(publicKey)));
  }

  /**
   * The proof of a request; undefined unless it was sealed for this key, this request, and lately.
   */
  async open(sealed: string, request: ProvenRequest): Promise<Proof | undefined> {
    const options = { keyManagementAlgorithms: [alg], contentEncryptionAlgorithms: [enc], clockTolerance: 60 };
    const opened = await jwtDecrypt(sealed, this.#privateKey, options).catch(() => undefined);
    const { proof, request: proven } = opened?.payload ?? {};
    return proven === textOf(request) ? (proof as Proof) : undefined;
  }
}

function textOf({ id, organization, act, digest, kind, name, expires_at }: ProvenRequest): string {
  return JSON.stringify([id, organization, act, digest, kind, name, expires_at?.toISOString() ?? null]);
}
