import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressKind } from './address-kind.ts';
import type { AddressKind } from './address-kind.ts';

const kinds: Readonly<Record<AddressKind, readonly string[]>> = {
  public: ['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.1', '172.15.0.1', '172.32.0.1', '192.167.0.1', '223.255.255.255', '2606:4700::1111', '2001:4860:4860::8888', '::ffff:8.8.8.8', '64:ff9b::808:808'],
  private: ['127.0.0.1', '127.255.0.1', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '100.64.0.1', '198.18.0.1', '::1', 'fd12::1', 'fc00::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '64:ff9b::7f00:1', '64:ff9b::10.1.2.3'],
  forbidden: [
    '0.0.0.0', '0.1.2.3', '169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192', '224.0.0.1', '239.1.1.1', '255.255.255.255', '240.0.0.1', '::', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1', 'ff02::1', 'fd00:ec2::254',
    '2002:7f00:1::', '2002:808:808::', '2001::1', '2001:db8::1', '64:ff9b:1::1', '::127.0.0.1', '::7f00:1', '100::1', '64:ff9b::', '64:ff9b::a9fe:a9fe', '::ffff:169.254.169.254', '5f00::1', 'localhost', '', '127.1', '0x7f000001',
  ],
};

for (const [kind, addresses] of Object.entries(kinds)) {
  test(`${kind} addresses are known as such`, () => {
    assert.deepEqual(addresses.map((address) => `${address} ${addressKind(address)}`), addresses.map((address) => `${address} ${kind}`));
  });
}
