// The HTML report as its readers have it: what is seen first, the map, and one host.
import assert from 'node:assert/strict';

import {cell, golden, hash, names, on, state, texts, tile} from './browser.mjs';

// --- what is seen first ----------------------------------------------------------------------------------------------

on('it says first how many hosts are not clean, of what, when and with which exit status', golden, async page => {
    assert.equal(await page.title(), '10 of 14 hosts are not clean - cleanslate');
    assert.match(await page.locator('h1').textContent(), /10 of 14 hosts are not clean/);
    const meta = await page.locator('#meta').textContent();
    for (const part of ['clear of fleet.yaml', '2026-11-29 12:00:00 UTC', '1m33s', 'exit 3']) assert.ok(meta.includes(part), meta);
});

on('it names a host of each state, why, and what to do', golden, async page => {
    const lines = await texts(page.locator('#trouble li'));
    assert.equal(lines.length, 4);
    assert.match(lines[0], /unreachable.*gpu12\.example\.org.*connection refused.*see that sshd runs there/);
    assert.match(lines[3], /dirty.*gpu04.*262261 MiB on 6 GPUs held by 7 processes of alice, bob and 2 more.*clear the host/);
});

on('it says who holds the memory where it is one process', {name: 'fleet'}, async page => {
    const line = await page.locator('#trouble li', {hasText: 'dirty'}).textContent();
    assert.match(line, /gpu00007: 76107 MiB on GPU 2 held by pid 4007 of bob/);
});

on('it says why a host is dirty still after it was cleared', {name: 'left'}, async page => {
    const [line] = await texts(page.locator('#trouble li'));
    assert.match(line, /gpu01: 76107 MiB on GPU 2 held by pid 812 of alice; pid 812 came back after pid 811 was ended.*systemctl stop server/);
    assert.match(await tile(page, 'gpu02').textContent(), /held by pid 812 of alice; left alone: in slurm job 4711 of alice/);
});

on('its buttons count the hosts of each state as the report does', golden, async page => {
    const {hosts} = await page.evaluate(() => report.summary);
    for (const [word, count] of Object.entries(hosts))
        assert.equal(await state(page, word).textContent(), `${await page.evaluate(word => signs[word], word)}${word} ${count}`);
    assert.equal(await page.locator('#map .tile').count(), 14);
});

// --- the map ---------------------------------------------------------------------------------------------------------

on('each GPU is a cell with a sign beside its colour, and a title', golden, async page => {
    const cells = tile(page, 'gpu04').locator('.cell');
    assert.deepEqual(await texts(cells), ['D', 'D', 'D', 'D', '\u2713', 'D', 'D', '\u2713']);
    assert.equal(await cells.nth(2).getAttribute('title'), 'gpu04 GPU 2: dirty, 40960 of 143771 MiB used, held by pid 813');
    assert.equal(await tile(page, 'gpu06').locator('.cell').count(), 16);
});

on('a host that shows no GPU is a cell as wide as a row', golden, async page => {
    const cells = tile(page, 'gpu13').locator('.cell');
    assert.deepEqual(await texts(cells), ['\u00d7 unreachable']);
});

on('hosts stand worst first, or by name', golden, async page => {
    const order = await texts(page.locator('#map h2'));
    assert.deepEqual(order.map(title => title.match(/[a-z]+/)[0]), ['unreachable', 'unknown', 'sick', 'dirty', 'clean']);
    await page.getByRole('button', {name: 'by name'}).click();
    const sorted = await names(page);
    assert.equal(sorted.length, 14);
    assert.deepEqual(sorted.slice(1, 4), ['gpu01', 'gpu02', 'gpu03']);
    assert.match(await hash(page), /order=name/);
});

on('a state alone, or several, can be shown', golden, async page => {
    await state(page, 'dirty').click();
    assert.deepEqual(await names(page), ['gpu04', 'gpu05', 'gpu09', 'gpu10']);
    assert.equal(await state(page, 'dirty').getAttribute('aria-pressed'), 'true');
    await state(page, 'sick').click();
    assert.deepEqual(await names(page), ['gpu06', 'gpu04', 'gpu05', 'gpu09', 'gpu10']);
    assert.match(await page.locator('#found').textContent(), /^5 of 14 hosts/);
    await page.getByRole('button', {name: 'show all'}).click();
    assert.equal(await page.locator('#map .tile').count(), 14);
    assert.ok(!await page.locator('#found').isVisible());
});

on('hosts are found by name, user, command, finding and uuid', golden, async page => {
    const finds = async query => {
        await page.locator('#search').fill(query);
        return names(page);
    };
    assert.deepEqual(await finds('gpu12'), ['gpu12.example.org']);
    assert.deepEqual(await finds('erin'), ['gpu05']);
    assert.deepEqual(await finds('NOTEBOOK.py'), ['gpu05']);
    assert.deepEqual(await finds('row-remap-pending'), ['gpu06']);
    assert.deepEqual(await finds('gpu-00000003-0000-4000-8000-000000000005'), ['gpu03']);
    assert.deepEqual(await finds('sglang frank'), ['gpu08']);
    assert.deepEqual(await finds('no such thing'), []);
    assert.match(await page.locator('#found').textContent(), /^0 of 14 hosts/);
});

on('a search shows which GPUs it is about', golden, async page => {
    await page.locator('#search').fill('gpu04 carol');
    assert.deepEqual(await names(page), ['gpu04']);
    assert.equal(await page.locator('#map .cell.meant').getAttribute('data-gpu'), '3');
});

// --- one host --------------------------------------------------------------------------------------------------------

on('a click on a GPU opens its host there, with the holder and its command', golden, async page => {
    await cell(page, 'gpu04', 3).click();
    const card = page.locator('#host .gpu.open');
    assert.equal(await card.getAttribute('data-gpu'), '3');
    assert.ok(await card.isVisible());
    const text = await card.textContent();
    for (const part of ['GPU 3', '79000 of 143771 MiB', 'pid 814', 'carol', '3h10m old', 'Slurm job 4711',
        'python3 -m torch.distributed.run --nproc-per-node 8 train.py', 'memory-in-use', 'clear the host',
        'GPU-00000004-0000-4000-8000-000000000003']) assert.ok(text.includes(part), `${part} in ${text}`);
    const bar = card.getByRole('img');
    assert.equal(await bar.getAttribute('title'), '79000 of 143771 MiB used, clean up to 100 MiB');
    assert.equal(await hash(page), '#host=gpu04&gpu=3');
});

on('every kind of holder is told apart', golden, async page => {
    await tile(page, 'gpu04').locator('.name').click();
    const text = await page.locator('#host').textContent();
    for (const part of ['a ghost', 'inherited descriptors', 'another pid namespace', 'no device file open', 'in D state',
        'a process without pid', 'uid 1000', 'container 0123456789ab', 'Openers', 'pid 816', 'Left alone', 'scheduled-job'])
        assert.ok(text.includes(part), part);
});

on('a protected holder is named, with why', {name: 'golden', hash: '#host=gpu03'}, async page => {
    const holder = page.locator('#host .process.protected');
    assert.match(await holder.textContent(), /pid 1201root18 MiB.*nv-hostengine.*nvidia-dcgm\.service.*protected: nv-hostengine of root/);
});

on('what was done stands in order, with how it ended and how long it took', {name: 'golden', hash: '#host=gpu08'}, async page => {
    const steps = await texts(page.locator('#host .timeline > .step > h4'));
    assert.deepEqual(steps.slice(0, 3), ['Step 1', 'Step 2', 'Step 3']);
    assert.match(steps.at(-1), /clean 4\.2 s after the first signal/);
    const entries = await texts(page.locator('#host .entry'));
    assert.match(entries[0], /command before: exit 01\.2 sdrain --token \*\*\* --reason 'clean up'stdoutdrained\nnode is idle/);
    assert.match(entries[1], /TERM to pid 2001 of frank: ended0\.13 s.*chosen by holding gpu/);
    assert.match(entries[2], /still alive/);
    assert.match(entries[6], /KILL to pid 2002 of frank: ended/);
    assert.ok(!(await page.content()).includes('geheim'));
});

on('a host that broke off shows its error', {name: 'golden', hash: '#show=unknown'}, async page => {
    await page.locator('#map .tile .name').first().click();
    const text = await page.locator('#host section.error').textContent();
    assert.match(text, /step 1: TERM holders: connection reset by peer.*connection_lost.*see that the host is up/);
});

on('MIG instances are listed with who may use them', {name: 'golden', hash: '#host=gpu05&gpu=1'}, async page => {
    const lines = await texts(page.locator('#host .instances li'));
    assert.equal(lines.length, 4);
    assert.match(lines[0], /MIG 1g\.18gb device 0, GI 7, CI 0: pid 900/);
    assert.match(lines[2], /holders not known/);
});

on('a dry run shows its plan, step by step', {name: 'dry_run'}, async page => {
    assert.match(await page.locator('#meta').textContent(), /dry run: nothing was signalled/);
    await cell(page, 'gpu01', 2).click();
    const plan = page.locator('#host section', {hasText: 'What would be done'});
    assert.deepEqual(await texts(plan.locator('h4')), ['Step 1: TERM holders', 'Step 2: KILL holders', 'Step 3: verify']);
    assert.match(await plan.locator('.step').first().textContent(), /pid 812alice76107 MiB.*sleep 100000/);
});

on('an ad-hoc command shows what each host answered', {name: 'run'}, async page => {
    assert.match(await page.locator('h1').textContent(), /The command failed on 2 of 7 hosts and was not answered by 3/);
    assert.deepEqual(await texts(page.locator('#map h2')), ['!failed 2', '?not asked 3', '\u2713ok 2']);
    await tile(page, 'gpu01').locator('.name').click();
    assert.match(await page.locator('#host .entry').textContent(), /exit 0.*uname -r; echo --token=\*\*\*.*6\.1\.0-28-amd64/);
});

on('a parsed nvidia-smi opens at its one host', {name: 'parse'}, async page => {
    assert.match(await page.locator('h1').textContent(), /The host is dirty/);
    assert.match(await page.locator('#host').textContent(), /fused to printed pids/);
});

on('a clean fleet says so and nothing else', {name: 'clean'}, async page => {
    assert.match(await page.locator('h1').textContent(), /All 3 hosts are clean/);
    assert.equal(await page.locator('#trouble li').count(), 0);
});

on('a report without hosts is still a page', {name: 'empty'}, async page => {
    assert.match(await page.locator('h1').textContent(), /No host was looked at/);
});
