#!/bin/bash
# watts of a node, from the chassis controller's pipe
read -r watts < "$1/power"
echo "$watts"
