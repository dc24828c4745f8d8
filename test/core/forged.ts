/**
 * Artefacts that `seal` would not make: the signature of whichever key under whatever the body says.
 *
 * @module
 */
import { type ArtefactKind, type Sealed } from '../../src/core/artefact.ts'
import { toHex } from '../../src/core/bytes.ts'
import { type Signature } from '../../src/core/ids.ts'
import { type SecretKey, sign } from '../../src/core/keys.ts'

export function signedBy<Body>(secret: SecretKey, kind: ArtefactKind<Body>, body: Body): Sealed<Body> {
  return { body, signature: toHex(sign(kind.preimage(body, kind.domain), secret)) as Signature }
}
