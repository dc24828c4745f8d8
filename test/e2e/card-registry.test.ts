import { writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { certificate } from '../channel/certificates.ts'
import { Meeting } from './brokered.ts'
import { serving } from './members.ts'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

/** A broker whose front door has a certificate of its own, and the file that members trust. */
async function behindDoor(stage: Stage, meeting: Meeting) {
  const own = certificate({ names: ['front.test'] })
  const [certFile, keyFile] = [stage.path('cert.pem'), stage.path('key.pem')]
  writeFileSync(certFile, own.cert)
  writeFileSync(keyFile, own.key)
  const { agent, address } = await meeting.broker({
    CT_BROKER_WS_LISTEN: '127.0.0.1:0',
    CT_BROKER_TLS_CERT: certFile,
    CT_BROKER_TLS_KEY: keyFile,
  })
  const [tcp = '', door = ''] = address.split(',')
  return { agent, tcp, door, certFile }
}

describe.concurrent('the card registry', SLOW, () => {
  it('has the card of a serving agent, and of whoever publishes one, for whoever asks', async ({ stage }) => {
    const { address } = await new Meeting(stage).broker()
    const server = stage.start(
      ['serve', '--broker', address, '--relay-only', '--list-card', '--roles', 'planner', '--skills', 'plan|Plans'],
      { env: stateOf(stage, 'server') },
    )
    const publishing = stage.finish(['card', 'publish', '--broker', address, '--roles', 'reviewer', '--json'], {
      env: stateOf(stage, 'publisher'),
    })
    await server.says(/the card is at the broker/)
    const published = await publishing
    expect(published.status).toBe(0)
    const found = await stage.finish(['card', 'find', '--broker', address, '--role', 'planner', '--skill', 'plan'])
    expect(found.status).toBe(0)
    expect(JSON.parse(found.stdout)).toMatchObject({ role_tags: ['planner'], skills: [{ id: 'plan' }] })
    server.signal('SIGTERM')
    expect((await server.exit).status).toBe(0)
  })
})

describe.concurrent('the front door of a broker', SLOW, () => {
  it('leads members to each other that take no other way, and the callers of a ticket', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { tcp, door, certFile } = await behindDoor(stage, meeting)
    const env = { CT_CHANNEL_FRONT_DOOR: door, CT_CHANNEL_FRONT_DOOR_CERT: certFile, CT_CHANNEL_FRONT_DOOR_ONLY: '1' }
    const acceptor = await meeting.accept('127.0.0.1:1', { ...serving('cat'), ...env })
    expect(acceptor.stderr).toMatch(/plane-brokered Accept \(relay 127\.0\.0\.1:\d+ \(front door\)\)/)
    const list = meeting.initiate('', { CT_CHANNEL_CALL: 'tools/list', ...env })
    expect((await list.exit).status).toBe(0)
    expect(list.stdout).toContain('"service/echo"')
    expect(list.stderr).toMatch(/goes through the relay, by the front door \(/)

    const server = stage.start(['serve', '--broker', tcp, '--relay-only'], { env: stateOf(stage, 'server', env) })
    const ticket = await server.line()
    await server.says(/reachable through the relay/)
    const call = await stage.finish(['tools'], { env: stateOf(stage, 'caller', { ...env, CT_TICKET: ticket }) })
    expect(call.stdout).toContain('ping')
    expect(call.status).toBe(0)
  })

  it('is not gone through where its certificate is another, and that is said', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { door } = await behindDoor(stage, meeting)
    const other = stage.path('other.pem')
    writeFileSync(other, certificate({ names: ['front.test'] }).cert)
    const env = { CT_CHANNEL_FRONT_DOOR: door, CT_CHANNEL_FRONT_DOOR_CERT: other, CT_CHANNEL_FRONT_DOOR_ONLY: '1' }
    const list = meeting.initiate('', { CT_CHANNEL_CALL: 'tools/list', ...env })
    expect((await list.exit).status).toBe(1)
    expect(list.stderr).toMatch(/ERR_CERTIFICATE_UNTRUSTED/)
    expect(list.stderr).toMatch(/CN=front\.test/)
  })
})
