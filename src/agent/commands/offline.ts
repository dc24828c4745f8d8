/**
 * The commands that talk to nobody, or to a program of this machine alone. They load as one file: with one for each, the
 * build takes what they share with others apart into many small ones, which every command then has to look up.
 *
 * Holds: nothing here loads what a session is made of.
 *
 * @module
 */
export { agentCard } from './agent-card.ts'
export { auditShow, auditVerify } from './audit.ts'
export { bidMake } from './bid.ts'
export { cardMake, cardShow, cardVerify } from './card.ts'
export { grant, invite } from './grant.ts'
export { inviteList, inviteRevoke } from './invitations.ts'
export { joinPipelineRole, memberMaterial } from './member-material.ts'
export { memberRotateOperator } from './member-rotation.ts'
export { memberList, memberRemove, memberRenew } from './members.ts'
export { offerMake, offerShow, offerVerify } from './offer.ts'
export { receiptCountersign, receiptMake, receiptVerify } from './receipt.ts'
export { rotateKey } from './rotate-key.ts'
export { servicePrint } from './service.ts'
export { status } from './status.ts'
