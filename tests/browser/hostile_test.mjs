// Text of hosts that would be more than text.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';

import {golden, hash, isTooWide, on, urlOf} from './browser.mjs';

on('no text of a host becomes markup, a dialog or a request', {name: 'hostile'}, async page => {
    const kinds = () => page.evaluate(() => Object.fromEntries(
        ['script', 'style', 'img', 'svg', 'iframe', 'b', 'link', 'meta', 'form', 'object'].map(
            kind => [kind, document.getElementsByTagName(kind).length])));
    const own = await kinds();
    assert.deepEqual([own.img, own.svg, own.iframe, own.b, own.form, own.object], [0, 0, 0, 0, 0, 0]);
    const hosts = await page.evaluate(() => report.hosts.map(host => host.name));
    assert.equal(hosts.length, 17);
    assert.ok(hosts.includes('</script><script>alert(1)</script>'));
    for (const place of hosts.keys()) {
        await page.locator(`.tile[data-place="${place}"] .name`).click();
        assert.equal(await page.locator('#host h2').textContent(), hosts[place]);
    }
    for (const query of ['<script>', '"><img src=x onerror=alert(9)>', '\\', '(', '__proto__']) await page.locator('#search').fill(query);
    await page.locator('summary').first().click();
    assert.deepEqual(await kinds(), own);
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('*')].flatMap(
        node => node.getAttributeNames().filter(name => name.startsWith('on') || name === 'srcdoc'))), []);
});

on('a hostile host can be sent as a link', {name: 'hostile'}, async page => {
    await page.locator('.tile[data-place="13"] .cell').nth(2).click();
    const link = await hash(page);
    await page.goto('about:blank');
    await page.goto(urlOf('hostile', link));
    await page.waitForSelector('html.ready');
    assert.equal(await page.locator('#host h2').textContent(), 'host=gpu01&gpu=2#show=dirty%00%');
    assert.equal(await page.locator('#host .gpu.open').getAttribute('data-gpu'), '2');
});

on('a command of five thousand characters stays in its box', {name: 'hostile', hash: '#host=long'}, async page => {
    const box = await page.locator('#host .gpu .command').first().boundingBox();
    assert.ok(box.height < 200, `${box.height} px high`);
    assert.ok(!await isTooWide(page));
});

on('its policy refuses markup and code that are not its own', {...golden, refused: /^console: .*Trusted(HTML|Script)/}, async page => {
    const tried = await page.evaluate(() => [
        node => { node.innerHTML = '<b>x</b>'; },
        node => node.append(Object.assign(document.createElement('script'), {text: 'window.ran = true'})),
    ].map(act => {
        try {
            act(document.body);
            return 'done';
        } catch (error) {
            return error.name;
        }
    }));
    assert.deepEqual(tried, ['TypeError', 'TypeError']);
    assert.equal(await page.evaluate(() => window.ran), undefined);
    const policy = await page.locator('meta[http-equiv]').getAttribute('content');
    assert.match(policy, /^default-src 'none';/);
    assert.ok(!/unsafe|https?:|\*/.test(policy), policy);
});

test('the page names no place that a browser could ask', () => {
    const page = readFileSync(new URL(urlOf('clean')), 'utf8');
    assert.doesNotMatch(page, /https?:\/\/|src\s*=|@import|url\(/);
});
