"""Who is where: ranks, nodes, hosts and GPUs, joined from all that names them."""
