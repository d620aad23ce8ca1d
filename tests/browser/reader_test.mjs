// The HTML report for different readers: links and keys, a phone, the dark, paper, no JavaScript, many hosts.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {focused, golden, isTooWide, names, on, phone, state, tile, withPage} from './browser.mjs';

// --- links and keys --------------------------------------------------------------------------------------------------

on('a link opens the same host, GPU, filter and order', {name: 'golden', hash: '#host=gpu05&gpu=1&show=dirty,sick&q=gpu0&order=name'}, async page => {
    assert.deepEqual(await names(page), ['gpu04', 'gpu05', 'gpu06', 'gpu09']);
    assert.equal(await page.locator('#search').inputValue(), 'gpu0');
    assert.equal(await page.locator('#host h2').textContent(), 'gpu05');
    assert.equal(await page.locator('#host .gpu.open').getAttribute('data-gpu'), '1');
    assert.equal(await page.locator('#map .tile.open .name').textContent(), 'gpu05');
});

on('the browser goes back from host to host, and to the map', golden, async page => {
    const opened = host => page.locator('#host h2', {hasText: host}).waitFor();
    await tile(page, 'gpu04').locator('.name').click();
    await page.getByRole('button', {name: 'next host'}).click();
    await opened('gpu05');
    await page.goBack();
    await opened('gpu04');
    await page.goBack();
    await page.locator('#host').waitFor({state: 'hidden'});
    await page.goForward();
    await opened('gpu04');
});

on('a link to a host that is not there shows the map', {name: 'golden', hash: '#host=nowhere&gpu=%&show=rusty'}, async page => {
    assert.ok(await page.locator('#host').isHidden());
    assert.equal(await page.locator('#map .tile').count(), 14);
});

on('everything can be reached with keys', golden, async page => {
    await page.keyboard.press('/');
    await page.keyboard.type('gpu0');
    assert.equal(await page.locator('#search').inputValue(), 'gpu0');
    for (let i = 0; i < 4; ++i) await page.keyboard.press('Tab');  // the orders, "show all", then the map as one stop
    assert.equal(await focused(page), 'gpu07: unknown');
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(page), 'gpu06: sick');
    await page.keyboard.press('ArrowDown');
    for (let i = 0; i < 4; ++i) await page.keyboard.press('ArrowRight');
    assert.match(await focused(page), /^gpu04 GPU 3: dirty/);
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('#host .gpu.open').getAttribute('data-gpu'), '3');
    await page.keyboard.press('Escape');
    assert.ok(await page.locator('#host').isHidden());
    assert.match(await focused(page), /^gpu04 GPU 3: dirty/);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Home');
    assert.equal(await focused(page), 'gpu07: unknown');
});

// --- small, dark, on paper -------------------------------------------------------------------------------------------

for (const name of ['golden', 'hostile', 'run', 'dry_run', 'fleet'])
    on(`on a phone nothing of ${name} is wider than the screen`, {name, ...phone}, async page => {
        assert.ok(!await isTooWide(page));
        await page.locator('#map .tile').nth(1).locator('.name').tap();
        assert.ok(await page.locator('#host').isVisible());
        assert.ok(!await isTooWide(page));
        await page.getByRole('button', {name: 'close'}).tap();
        assert.ok(await page.locator('#host').isHidden());
    });

// The contrast of each text with what is behind it, by the formula of WCAG 2; the least of them.
const leastContrast = page => page.evaluate(() => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
    const rgba = color => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const luminance = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const behind = node => {
        for (; node; node = node.parentElement) {
            const color = rgba(getComputedStyle(node).backgroundColor);
            if (color[3] === 255) return color;
        }
        return [255, 255, 255];
    };
    const wanted = '.cell, .sign, .badge, #meta, .why bdi, .remedy, .places, .command, .code, .ids, h1, h3, .state:enabled, .name';
    const found = [...document.querySelectorAll(wanted)].filter(node => node.checkVisibility()).map(node => {
        const [a, b] = [rgba(getComputedStyle(node).color), behind(node)].map(luminance).sort((a, b) => b - a);
        return [(a + 0.05) / (b + 0.05), node.className || node.tagName];
    });
    return found.reduce((least, one) => one[0] < least[0] ? one : least);
});

for (const colorScheme of ['light', 'dark'])
    on(`every text can be read in the ${colorScheme} scheme`, {name: 'golden', hash: '#host=gpu04', colorScheme}, async page => {
        const back = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
        assert.equal(/rgb\(1?\d?\d, /.test(back) && parseInt(back.slice(4)) < 60, colorScheme === 'dark');
        const [contrast, where] = await leastContrast(page);
        assert.ok(contrast >= 4.5, `${contrast.toFixed(2)} of ${where}`);
    });

on('on paper the hosts that are not clean follow in detail', golden, async page => {
    await page.emulateMedia({media: 'print'});
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    assert.equal(await page.locator('#print article').count(), 10);
    assert.ok(await page.locator('#print').getByText('python3 notebook.py').first().isVisible());
    assert.ok(!await page.locator('#bar').isVisible());
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    assert.equal(await page.locator('#print article').count(), 0);
});

on('without JavaScript it has the summary and says what is missing', {name: 'golden', javaScriptEnabled: false}, async page => {
    const text = await page.locator('body').innerText();
    assert.match(text, /10 of 14 hosts are not clean/);
    assert.match(text, /14 hosts: 4 clean, 4 dirty, 1 sick, 3 unknown, 2 unreachable/);
    assert.match(text, /need JavaScript/);
});

// --- many hosts ------------------------------------------------------------------------------------------------------

const timesOf = page => page.evaluate(() => ({
    ready: performance.getEntriesByName('ready')[0].startTime,
    parsed: performance.getEntriesByName('read')[0].duration,
    painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
}));
const inMs = times => Object.entries(times).map(([what, ms]) => `${what} ${Math.round(ms)} ms`).join(', ');

async function took(page, act) {
    const begin = Date.now();
    await act();
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
    return Date.now() - begin;
}

// `found`: the hosts of alice. The bounds are generous: what it takes is in the log.
for (const [name, hosts, found, bound] of [['fleet', 1000, 21, 20_000], ['large', 10_000, 201, 60_000]])
    test(`${hosts} hosts with 8 GPUs each open, and can be searched and scrolled`, t => withPage({name}, async page => {
        const times = await timesOf(page);
        t.diagnostic(`${hosts} hosts: ${inMs(times)} after the file was opened`);
        assert.ok(times.ready < bound, `${times.ready} ms`);
        assert.equal(await state(page, '').textContent(), `all ${hosts}`);
        const search = await took(page, () => page.locator('#search').fill('alice'));
        assert.equal(await page.locator('#found').textContent(), `${found} of ${hosts} hosts show all`);
        const clear = await took(page, () => page.locator('#search').fill(''));
        const order = await took(page, () => page.getByRole('button', {name: 'by name'}).click());
        t.diagnostic(inMs({search, clear, order}));
        const height = await page.evaluate(() => document.documentElement.scrollHeight);
        const last = `gpu${String(hosts - 1).padStart(5, '0')}`;
        await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
        await tile(page, last).locator('.cell').nth(7).click();
        assert.equal(await page.locator('#host h2').textContent(), last);
        await page.getByRole('button', {name: 'close'}).click();
        await page.evaluate(() => buildAll());
        assert.equal(await page.evaluate(() => document.documentElement.scrollHeight), height);  // nothing has moved
    }));
