//! Network devices without hardware (Documentation/networking/tuntap.rst): what the kernel sends over one is read from its
//! descriptor, what is written there it receives.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags, open as open_file};

/// The header of virtio before each packet (struct virtio_net_hdr): what is to be done about checksums and segments.
pub(super) const HEADER_BYTES: usize = 10;

/// `_IOW('T', 202, int)` and `_IOW('T', 208, unsigned int)`.
const SET_INTERFACE: libc::c_ulong = 0x4004_54ca;
const SET_OFFLOAD: libc::c_ulong = 0x4004_54d0;
/// Checksums, and segments of TCP over IPv4 and IPv6, may be left to whoever receives them (include/uapi/linux/if_tun.h).
const OFFLOADS: libc::c_uint = 0x01 | 0x02 | 0x04;
/// What else a request of an interface may carry (struct ifreq has 40 bytes).
const PADDING_BYTES: usize = 22;

/// The beginning of struct ifreq, as far as this request has it.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    flags: libc::c_short,
    padding: [u8; PADDING_BYTES],
}

/// Makes the device `name` in the network that the calling thread is in. It is gone when the descriptor is closed; reading from it
/// never waits.
pub(super) fn open(name: &str) -> io::Result<OwnedFd> {
    let mut request = Request { name: [0; libc::IFNAMSIZ], flags: 0, padding: [0; PADDING_BYTES] };
    if name.len() >= libc::IFNAMSIZ {
        return Err(io::Error::other(format!("{name} is too long for a device's name")));
    }
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    request.flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let device = open_file("/dev/net/tun", flags, Mode::empty())?;
    // SAFETY: the descriptor is open, and the kernel reads and writes sizeof(struct ifreq) bytes, which the request has.
    check(unsafe { libc::ioctl(device.as_raw_fd(), SET_INTERFACE, &raw mut request) })?;
    // SAFETY: the descriptor is open, and the third argument is a number.
    check(unsafe { libc::ioctl(device.as_raw_fd(), SET_OFFLOAD, libc::c_ulong::from(OFFLOADS)) })?;
    Ok(device)
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_as_large_as_the_kernels() {
        assert_eq!(size_of::<Request>(), 40);
    }
}
