import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { commands } from '../../cmd/admin/commands.ts';
import { compileCache } from '../support/child.ts';
import { runAdmin } from '../support/admin.ts';

describe('runledger-admin', () => {
  it('lists its commands, and says what each takes and reads', async () => {
    const all = await runAdmin(['--help']);
    expect(all).to.include({ code: 0, stderr: '' });
    for (const [name, { declaration }] of Object.entries(commands)) {
      expect(all.stdout).to.match(new RegExp(`^  ${name} `, 'm'));
      for (const args of [
        [...name.split(' '), '--help'],
        ['help', ...name.split(' ')],
      ]) {
        const { code, stdout } = await runAdmin(args);
        expect(code).to.equal(0);
        expect(stdout).to.match(new RegExp(`^Usage: runledger-admin ${name}\\b`));
        for (const option of Object.keys(declaration.options)) expect(stdout).to.contain(`  --${option}`);
        if (declaration.settings.length > 0) expect(stdout).to.contain('DATABASE_URL');
        for (const line of stdout.split('\n')) expect(line.length, line).to.be.at.most(100);
      }
    }
    expect((await runAdmin(['token', '--help'])).stdout)
      .to.contain('token revoke')
      .and.not.contain('erase');
  });

  it('names what is wrong with the arguments or the settings, and exits with 2', async () => {
    const wrong: [string[], string][] = [
      [[], 'runledger-admin: no command is given'],
      [['toString'], 'runledger-admin: unknown command "toString"'],
      [['token', 'renew'], 'runledger-admin: unknown command "token renew"'],
      [['erase', '--organization', 'acme', '--organization', 'x'], 'erase: --organization may be given only once'],
      [['erase', '--organization', '\0'], 'erase: --organization must not contain U+0000'],
      [['export', 'a', 'b'], 'export: only one DESTINATION may be given'],
      [['move', '--organization', 'acme'], 'move: one of --to, --cancel and --clean is required'],
      [['migrate'], 'migrate: DATABASE_URL is required'],
      [['seal', '--organization', 'a', '--by', 'b', '--reason', 'c'], 'seal: DATABASE_URL is required'],
    ];
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await runAdmin(args);
      expect(stderr).to.contain(message);
      expect({ code, stdout }, args.join(' ')).to.deep.equal({ code: 2, stdout: '' });
    }
  });

  it('ends at once on a signal, says so, and exits as a shell expects', async () => {
    const child = spawn(process.execPath, ['cmd/admin/main.ts', 'token', 'secret', '--organization', 'acme'], {
      env: { PATH: process.env['PATH'], ...compileCache },
    });
    const [said, exited] = [text(child.stderr), once(child, 'exit')];
    // Until it reads, a signal would end Node itself.
    await new Promise((resolve) => child.stdin.write('x'.repeat(1 << 20), resolve));
    child.kill('SIGTERM');
    expect(await exited).to.deep.equal([143, null]);
    expect(await said).to.equal('token secret: stopped by SIGTERM; the same command continues\n');
  });
});
