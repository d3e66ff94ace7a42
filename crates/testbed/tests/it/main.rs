//! The testbed on real processes and real servers.

mod balancer;
mod bench;
mod broker;
mod building;
mod cached;
mod cleanup;
mod cluster;
mod data;
mod detached;
mod faults;
mod figures;
mod files;
mod held;
mod image;
mod kept_files;
mod machine;
mod memory;
mod own_host;
mod packaging;
mod servers;
mod stacks;
mod tiny;
mod tomcat;
mod tomcat_secret;
mod waiting;
