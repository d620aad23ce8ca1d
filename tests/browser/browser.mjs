// A browser for the tests, and what it must not see on any page.
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';

const {chromium} = createRequire(`${process.env.PLAYWRIGHT}/`)('playwright-core');

const flags = [
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--host-resolver-rules=MAP * ~NOTFOUND',
];

// One for all tests of a file, with a profile of its own, which goes with it.
let browser;
before(async () => { browser = await chromium.launch({executablePath: process.env.CHROMIUM, args: flags, timeout: 120_000}); });
after(() => browser?.close());

export const urlOf = (name, hash = '') => pathToFileURL(`${process.env.PAGES}/${name}.html`).href + hash;

// What a page does besides being looked at.
function watch(page) {
    const seen = [];
    page.on('request', request => seen.push(`request: ${request.url().slice(0, 200)}`));
    page.on('dialog', dialog => {
        seen.push(`dialog: ${dialog.message()}`);
        dialog.dismiss();
    });
    page.on('console', message => seen.push(`console: ${message.text()}`));
    page.on('pageerror', error => seen.push(`error: ${error.message}`));
    page.on('popup', () => seen.push('popup'));
    page.on('download', () => seen.push('download'));
    page.on('frameattached', () => seen.push('frame'));
    return seen;
}

// Opens a page in a window of its own, lets `look` do its work, and wants the page to have asked for nothing but itself.
// `refused`: what it may complain about on the console.
export async function withPage({name, hash = '', refused = /^$/, ...options}, look) {
    const context = await browser.newContext({viewport: {width: 1280, height: 900}, ...options});
    try {
        const page = await context.newPage();
        page.setDefaultTimeout(30_000);
        const seen = watch(page);
        await page.goto(urlOf(name, hash), {timeout: 120_000});
        if (options.javaScriptEnabled !== false) await page.waitForSelector('html.ready');
        await look(page);
        const own = `request: ${urlOf(name)}`.slice(0, 209);
        assert.deepEqual(seen.filter(what => what.split('#')[0] !== own && !refused.test(what)), [], `${name} did more than show itself`);
    } finally {
        await context.close();
    }
}

// A test that looks at one page.
export const on = (sentence, options, look) => test(sentence, () => withPage(options, look));

export const golden = {name: 'golden'};
export const phone = {viewport: {width: 375, height: 812}, isMobile: true, hasTouch: true};

// --- what is on a page -----------------------------------------------------------------------------------------------

export const texts = locator => locator.evaluateAll(nodes => nodes.map(node => node.textContent));
// Of all hosts of the map, once all of it is built.
export async function names(page) {
    await page.waitForFunction(() => hostsOfBlock.size === 0);
    return texts(page.locator('#map .tile .name'));
}
export const tile = (page, host) => page.locator('#map .tile').filter(
    {has: page.locator('.name', {hasText: new RegExp(`^${host}$`)})});
export const cell = (page, host, gpu) => tile(page, host).locator(`.cell[data-gpu="${gpu}"]`);
export const state = (page, word) => page.locator(`#states button[data-state="${word}"]`);
export const hash = page => page.evaluate(() => location.hash);
export const focused = page => page.evaluate(() => document.activeElement.getAttribute('aria-label'));
export const isTooWide = page => page.evaluate(() => [document.documentElement, document.querySelector('#host')].some(
    node => node.scrollWidth > node.clientWidth));
