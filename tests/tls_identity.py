"""Certificates that sign themselves, for services and clients of tests."""

import datetime
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

BEGAN_DAYS_AGO = 9


class Identity(NamedTuple):
    """A certificate that signs itself, and its key."""

    certificate: Path
    key: Path


def make_identity(
    folder: Path, name: str, passphrase: bytes | None = None, *, days: int = 1, address: str = "127.0.0.1"
) -> Identity:
    """Writes the identity of an address, which ends so many days from now."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=BEGAN_DAYS_AGO))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    locked = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    files = Identity(folder / f"{name}.pem", folder / f"{name}.key")
    files.certificate.write_bytes(certificate.public_bytes(pem))
    files.key.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, locked))
    return files
