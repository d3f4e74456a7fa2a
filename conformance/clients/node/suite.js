// Single-record commands through the official Node.js client: suite.js HOST:PORT
'use strict'

const assert = require('assert')
const Aerospike = require('aerospike')

const { exists, gen } = Aerospike.policy
const ops = Aerospike.operations
const status = Aerospike.status
const sections = []
const counts = { passed: 0, failed: 0, skipped: 0 }
let current = ''

const key = (name, set = 'node', namespace = 'test') => new Aerospike.Key(namespace, set, name)
const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds))

function section (name, run) {
  sections.push({ name, run })
}

function failed (what, reason) {
  counts.failed += 1
  console.log(`FAILED ${current}: ${what}: ${String(reason).split('\n').join(' ').slice(0, 300)}`)
}

// Counts one check: `seen` must equal `expected`, types included.
function equal (what, seen, expected) {
  try {
    assert.deepStrictEqual(seen, expected)
    counts.passed += 1
  } catch (error) {
    failed(what, error.message)
  }
}

// Counts one check: the command must be refused with this code.
async function refused (what, code, command) {
  try {
    await command()
    failed(what, 'nothing was refused')
  } catch (error) {
    equal(what, error.code, code)
  }
}

const write = fields => new Aerospike.WritePolicy(fields)

section('values come back', async client => {
  const values = [
    0, 1, -1, 127, 128, 65536, 2 ** 40, Number.MAX_SAFE_INTEGER, 1.5, -0.25, 1e300,
    '', 'text', 'é漢字🙂', 'x'.repeat(70000), true, false,
    Buffer.from([0, 255]), Buffer.alloc(300, 7),
    [], [1, 'a', 1.5, null, true], [[], [[]], { a: 1 }],
    {}, { a: 1 }, { b: [1, 2], c: { d: null } }
  ]
  for (const [place, value] of values.entries()) {
    await client.put(key(`value-${place}`), { v: value })
    const record = await client.get(key(`value-${place}`))
    equal(`value ${JSON.stringify(value).slice(0, 40)}`, record.bins, { v: value })
    equal(`generation of value ${place}`, record.gen, 1)
  }
  for (const value of [2n ** 63n - 1n, -(2n ** 63n)]) {
    await client.put(key('large'), { v: value })
    equal(`value ${value}`, (await client.get(key('large'))).bins.v, value)
  }
})

section('GeoJSON comes back', async client => {
  const point = new Aerospike.GeoJSON({ type: 'Point', coordinates: [103.913, 1.308] })
  await client.put(key('geo'), { g: point })
  equal('point', JSON.parse((await client.get(key('geo'))).bins.g), JSON.parse(point.toString()))
  const bad = new Aerospike.GeoJSON({ type: 'Nonsense' })
  await refused('bad GeoJSON', status.ERR_GEO_INVALID_GEOJSON, () => client.put(key('geo'), { g: bad }))
})

section('keys of every type', async client => {
  const names = ['k', 'é', 'x'.repeat(1000), 0, 1, -1, Number.MAX_SAFE_INTEGER]
  names.push(Buffer.from([0]), Buffer.from('k'))
  for (const [place, name] of names.entries()) await client.put(key(name), { place })
  for (const [place, name] of names.entries()) {
    equal(`key ${String(name).slice(0, 40)}`, (await client.get(key(name))).bins, { place })
  }
  await client.put(key('k', 'node', 'bar'), { place: 'bar' })
  equal('another namespace', (await client.get(key('k', 'node', 'bar'))).bins, { place: 'bar' })
  equal('the same key elsewhere', (await client.get(key('k'))).bins, { place: 0 })
})

section('existence and removal', async client => {
  const record = key('there')
  equal('absent', await client.exists(record), false)
  await refused('get', status.ERR_RECORD_NOT_FOUND, () => client.get(record))
  await refused('touch', status.ERR_RECORD_NOT_FOUND, () => client.operate(record, [ops.touch(10)]))
  await refused('remove', status.ERR_RECORD_NOT_FOUND, () => client.remove(record))
  await client.put(record, { a: 1, b: 2 })
  equal('present', await client.exists(record), true)
  equal('some bins', (await client.select(record, ['b', 'zz'])).bins, { b: 2 })
  await client.remove(record)
  equal('removed', await client.exists(record), false)
})

section('bins merge and go', async client => {
  const record = key('merge')
  await client.put(record, { a: 1, b: 2 })
  await client.put(record, { b: 3, c: 4 })
  equal('merged', (await client.get(record)).bins, { a: 1, b: 3, c: 4 })
  await client.put(record, { a: null })
  equal('bin set to nil', (await client.get(record)).bins, { b: 3, c: 4 })
  await client.put(record, { b: null, c: null })
  equal('the last bin takes the record along', await client.exists(record), false)
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`bin${i}`, i]))
  await client.put(record, many)
  equal('300 bins', (await client.get(record)).bins, many)
})

section('operations in one command', async client => {
  const record = key('operate')
  const first = await client.operate(record, [
    ops.write('a', 1), ops.incr('a', 4), ops.append('s', 'x'), ops.prepend('s', 'y'),
    ops.read('a'), ops.read('s')
  ])
  equal('read after write', first.bins, { a: 5, s: 'yx' })
  equal('generation', first.gen, 1)
  await refused('append to a number', status.ERR_BIN_INCOMPATIBLE_TYPE,
    () => client.operate(record, [ops.write('n', 1), ops.append('a', 'x')]))
  equal('one failure fails them all', (await client.get(record)).bins, { a: 5, s: 'yx' })
  await client.operate(record, [ops.touch(100), ops.incr('a', -6)])
  equal('touch and increment', (await client.get(record)).bins.a, -1)
  const last = await client.operate(record, [ops.read('a'), ops.delete()])
  equal('read and delete', last.bins, { a: -1 })
  equal('gone', await client.exists(record), false)
})

section('shortcuts for one operation', async client => {
  const record = key('scalar')
  await client.put(record, { i: 5, s: 'mid', f: new Aerospike.Double(1.5) })
  await client.incr(record, { i: 3, f: new Aerospike.Double(0.25) })
  await client.append(record, { s: '-end' })
  await client.prepend(record, { s: 'start-' })
  equal('bins', (await client.get(record)).bins, { i: 8, s: 'start-mid-end', f: 1.75 })
})

section('generation policies', async client => {
  const record = key('generation')
  await client.put(record, { a: 1 })
  await client.put(record, { a: 2 })
  const put = (value, generation, policy) =>
    client.put(record, { a: value }, { gen: generation }, write({ gen: policy }))
  await refused('older generation', status.ERR_RECORD_GENERATION, () => put(3, 1, gen.EQ))
  await put(3, 2, gen.EQ)
  equal('equal generation', (await client.get(record)).gen, 3)
  await refused('not greater', status.ERR_RECORD_GENERATION, () => put(4, 3, gen.GT))
  await put(4, 10, gen.GT)
  equal('greater generation', (await client.get(record)).gen, 4)
})

section('existence policies', async client => {
  const record = key('exists')
  const put = (bins, policy) => client.put(record, bins, null, write({ exists: policy }))
  await refused('update only, absent', status.ERR_RECORD_NOT_FOUND, () => put({ a: 1 }, exists.UPDATE))
  await refused('replace only, absent', status.ERR_RECORD_NOT_FOUND, () => put({ a: 1 }, exists.REPLACE))
  await put({ a: 1, b: 1 }, exists.CREATE)
  await refused('create only, present', status.ERR_RECORD_EXISTS, () => put({ a: 2 }, exists.CREATE))
  await put({ a: 2 }, exists.UPDATE)
  equal('update keeps the others', (await client.get(record)).bins, { a: 2, b: 1 })
  await put({ a: 3 }, exists.REPLACE)
  equal('replace drops them', (await client.get(record)).bins, { a: 3 })
  await put({ c: 4 }, exists.CREATE_OR_REPLACE)
  equal('create or replace drops them', (await client.get(record)).bins, { c: 4 })
})

section('times to live', async client => {
  const record = key('ttl')
  const near = async (what, low, high) => {
    const { ttl } = await client.get(record)
    equal(`${what}: ${ttl}`, ttl >= low && ttl <= high, true)
  }
  await client.put(record, { a: 1 }, { ttl: 100 })
  await near('seconds', 97, 100)
  await client.put(record, { a: 2 }, { ttl: Aerospike.ttl.DONT_UPDATE })
  await near('kept by a write', 90, 100)
  await client.operate(record, [ops.touch(500)])
  await near('touch renews', 490, 500)
  await client.put(record, { a: 3 }, { ttl: Aerospike.ttl.NEVER_EXPIRE })
  equal('never', (await client.get(record)).ttl, Aerospike.ttl.NEVER_EXPIRE)
  await client.put(record, { a: 4 }, { ttl: 1 })
  await sleep(2100)
  await refused('expired', status.ERR_RECORD_NOT_FOUND, () => client.get(record))
})

section('batches answer per key', async client => {
  const keys = Array.from({ length: 20 }, (_, i) => key(`batch-${i}`))
  const written = await client.batchWrite(keys.map((record, i) => (
    { type: Aerospike.batchType.BATCH_WRITE, key: record, ops: [ops.write('i', i)] })))
  equal('written', written.every(row => row.status === status.OK), true)
  const rows = await client.batchRead([...keys, key('batch-missing')].map(record => (
    { key: record, readAllBins: true })))
  equal('read', rows.slice(0, 20).map(row => row.record.bins), keys.map((_, i) => ({ i })))
  equal('a missing row', rows[20].status, status.ERR_RECORD_NOT_FOUND)
  await client.batchRemove(keys)
  const left = await client.batchExists(keys)
  equal('removed', left.every(row => row.status === status.ERR_RECORD_NOT_FOUND), true)
})

section('lists and maps from inside', async client => {
  const { lists, maps, exp } = Aerospike
  const record = key('inside')
  await client.operate(record, [lists.appendItems('l', [5, 3, 9, 3]), lists.sort('l', 0)])
  equal('sorted', (await client.get(record)).bins.l, [3, 3, 5, 9])
  const page = lists.getByIndexRange('l', 1, 2).andReturn(lists.returnType.VALUE)
  equal('page', (await client.operate(record, [page])).bins.l, [3, 5])
  await client.operate(record, [maps.putItems('m', { b: 2, a: 1, c: 3 })])
  const one = maps.getByKey('m', 'b', maps.returnType.VALUE)
  equal('by key', (await client.operate(record, [one])).bins.m, 2)
  const filtered = new Aerospike.ReadPolicy({
    filterExpression: exp.lt(exp.lists.size(exp.binList('l')), exp.int(3))
  })
  await refused('filter', status.FILTERED_OUT, () => client.get(record, filtered))
})

section('refusals', async client => {
  await refused('unknown namespace', status.ERR_NAMESPACE_NOT_FOUND,
    () => client.put(key('k', 'node', 'nowhere'), { a: 1 }))
  await refused('2 MiB in a record of 1 MiB', status.ERR_RECORD_TOO_BIG,
    () => client.put(key('big'), { a: Buffer.alloc(2 * 1024 * 1024) }))
})

async function main () {
  const client = await Aerospike.connect({ hosts: process.argv[2], log: { level: Aerospike.log.OFF } })
  for (const { name, run } of sections) {
    current = name
    try {
      await run(client)
    } catch (error) {
      failed('runs to its end', error.stack)
    }
  }
  client.close()
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
  process.exitCode = counts.failed ? 1 : 0
}

main().catch(error => {
  console.error(error)
  process.exit(2)
})
