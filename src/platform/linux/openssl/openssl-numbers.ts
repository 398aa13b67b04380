/** Numbers of OpenSSL's headers, the same in all versions from 3.0 on. */

export const SSL_CTRL_MODE = 33;
export const SSL_CTRL_SET_READ_AHEAD = 41;
export const SSL_CTRL_SET_SESS_CACHE_SIZE = 42;
export const SSL_CTRL_SET_MAX_CERT_LIST = 51;
export const SSL_SENT_SHUTDOWN = 1;
export const SSL_CTRL_SET_TLSEXT_HOSTNAME = 55;
export const SSL_CTRL_SET_TLSEXT_TICKET_KEYS = 59;
export const SSL_CTRL_CHAIN_CERT = 89;
export const SSL_CTRL_SET_MIN_PROTO_VERSION = 123;

export const SSL_MODE_ENABLE_PARTIAL_WRITE = 0x01;
export const SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER = 0x02;
export const SSL_MODE_RELEASE_BUFFERS = 0x10;

export const SSL_OP_NO_COMPRESSION: number = 2 ** 17;
export const SSL_OP_NO_RENEGOTIATION: number = 2 ** 30;

export const TLS1_2_VERSION = 0x0303;

export const SSL_VERIFY_PEER = 0x01;
export const SSL_VERIFY_FAIL_IF_NO_PEER_CERT = 0x02;

export const SSL_ERROR_WANT_READ = 2;
export const SSL_ERROR_WANT_WRITE = 3;
export const SSL_ERROR_SYSCALL = 5;
export const SSL_ERROR_ZERO_RETURN = 6;

export const SSL_TLSEXT_ERR_OK = 0;
export const SSL_TLSEXT_ERR_ALERT_FATAL = 2;
export const OPENSSL_NPN_NEGOTIATED = 1;

/** ERR_GET_REASON(3): the low bits of an error. */
export const REASON_MASK = 0x7f_ffff;
export const SSL_R_UNEXPECTED_EOF_WHILE_READING = 294;

/** The name of a ticket key (16 bytes), its HMAC and its AES key (32 each). */
export const TICKET_KEY_BYTES = 80;
